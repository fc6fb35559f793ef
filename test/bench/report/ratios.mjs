import { MILLISECONDS, digits } from './format.mjs';

const ratio = (value) => `${digits(value)} x`;

/** The figures that matter, as far as they were measured: pairs of a label and a text. */
export function ratios(results) {
  const { uncontended, handover, contended, waiting, recovery, abort, import: start } = results;
  return [
    ...(contended === undefined ? [] : fairness(contended, results.sizes.contended.runs)),
    ...(handover === undefined ? [] : handOver(handover)),
    ...(waiting === undefined
      ? []
      : [['CPU of a waiter, ms a minute', digits(waiting.bucketlock.median)]]),
    ...(abort === undefined ? [] : [['abort, ms', digits(abort.bucketlock.median * MILLISECONDS)]]),
    ...(recovery === undefined ? [] : recover(recovery)),
    ...(start === undefined ? [] : begin(start)),
    ...(uncontended === undefined ? [] : Object.entries(uncontended).flatMap(cost)),
  ];
}

function fairness({ bucketlock, c }, runs) {
  const [fewest] = runs[0];
  const [most, seconds] = runs.at(-1);
  const evenness = ({ [most]: { most: upper, least: lower } }) =>
    `${digits(upper.median)} / ${digits(lower.median)} = ${ratio(upper.median / lower.median)}`;
  const label = `${most} processes over ${seconds} s: most served / least served`;
  return [
    [label, evenness(bucketlock)],
    [`${label}, C program`, evenness(c)],
    [
      `throughput at ${most} / at ${fewest}`,
      ratio(bucketlock[most].perSecond.median / bucketlock[fewest].perSecond.median),
    ],
  ];
}

function handOver(figures) {
  const against = (name) => ratio(figures.bucketlock.median / figures[name].median);
  return [
    ['hand-over / C program', against('c')],
    ['hand-over / fs-native-extensions', against('fs-native-extensions')],
  ];
}

function recover({ bucketlock, c }) {
  return [
    [
      'recovery, p99 minus that of the C program, ms',
      digits((bucketlock.p99 - c.p99) * MILLISECONDS),
    ],
  ];
}

function begin({ bucketlock, 'proper-lockfile': proper }) {
  return [
    ['import / proper-lockfile', ratio(bucketlock.imported.median / proper.imported.median)],
    [
      'import and first acquire / proper-lockfile',
      ratio(bucketlock.held.median / proper.held.median),
    ],
  ];
}

function cost([where, figures]) {
  const { bucketlock, c, trips, callsInTrips, 'proper-lockfile': proper } = figures;
  return [
    [`${where}: sync / C program`, ratio(bucketlock.sync.median / c.sync.median)],
    [
      `${where}: async / (C program + two empty trips)`,
      ratio(bucketlock.async.median / (c.sync.median + trips.async.median)),
    ],
    [
      `${where}: async / the same calls inside two trips`,
      ratio(bucketlock.async.median / callsInTrips.async.median),
    ],
    [
      `${where}: proper-lockfile / bucketlock, sync`,
      ratio(proper.sync.median / bucketlock.sync.median),
    ],
    [
      `${where}: proper-lockfile / bucketlock, async`,
      ratio(proper.async.median / bucketlock.async.median),
    ],
  ];
}
