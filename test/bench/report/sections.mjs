import { CONTENDERS, NAMED_LOCK } from '../contenders/index.mjs';
import { IDLE } from '../parts/waiting.mjs';
import { MICROSECONDS, MILLISECONDS, digits, withSpread } from './format.mjs';

/** Of what is only measured of our own, and has a row instead of a column. */
const OWN = CONTENDERS[0];

/**
 * The table's sections, as far as they were measured: a title, and rows of a label and cells by
 * contender. A cell is a text, or says why there is none: `{ cannot }`.
 */
export function sections(results) {
  return builders
    .filter(([part]) => results[part] !== undefined)
    .map(([part, title, build]) => ({
      title: typeof title === 'function' ? title(results.sizes[part]) : title,
      rows: build(results[part], results.sizes[part]),
    }));
}

const builders = [
  ['uncontended', 'Uncontended acquire and release, µs', uncontended],
  [
    'handover',
    'Hand-over to another process, one waiting: from the release to held, µs',
    (result) => quantiles(result, MICROSECONDS),
  ],
  ['contended', 'Processes that take turns, as many as they get', contended],
  [
    'waiting',
    ({ waiters }) => `CPU time of a process that waits (${waiters} do), ms a minute`,
    waiting,
  ],
  ['recovery', 'Recovery with a waiter: from the SIGKILL of the holder to held, ms', recovery],
  ['queue', 'Waiting calls of one process: a hand-over, µs', queue],
  ['crowd', 'Uncontended acquire and release while others are held, on tmpfs, µs', crowd],
  [
    'abort',
    'Abort of a wait: until the acquire has rejected, ms',
    (result) => [
      ...quantiles(result, MILLISECONDS),
      ...own(result, 'named lock, median', ({ median }) => digits(median * MILLISECONDS)),
    ],
  ],
  ['import', 'The start of a fresh process, ms', importing],
];

/** A row: what `text` makes of each contender's figures. */
function row(label, figures, text) {
  const cells = CONTENDERS.map((name) => {
    const figure = figures[name];
    if (figure === undefined) return [name, ''];
    return [name, figure.cannot === undefined ? text(figure) : figure];
  });
  return { label, cells: Object.fromEntries(cells) };
}

/** A row of named locks, where they were measured. */
function own(figures, label, text) {
  const figure = figures[NAMED_LOCK];
  const cell = figure === undefined ? undefined : text(figure);
  return cell === undefined ? [] : [{ label, cells: { [OWN]: cell } }];
}

function quantiles(figures, scale) {
  return [
    row('median', figures, ({ median }) => digits(median * scale)),
    row('p99', figures, ({ p99 }) => digits(p99 * scale)),
  ];
}

function uncontended(result) {
  return Object.entries(result).flatMap(([where, figures]) => [
    ...['sync', 'async'].map((face) =>
      row(`${where}, ${face}`, figures, (figure) => micro(figure[face])),
    ),
    ...own(figures, `named lock, sync`, ({ sync }) => (where === 'disk' ? micro(sync) : undefined)),
    ...own(figures, `named lock, async`, ({ async }) =>
      where === 'disk' ? micro(async) : undefined,
    ),
    {
      label: `${where}, two empty trips through the pool`,
      cells: { [OWN]: micro(figures.trips.async) },
    },
    {
      label: `${where}, the C program's calls inside two trips`,
      cells: { [OWN]: micro(figures.callsInTrips.async) },
    },
  ]);
}

function micro(figure) {
  return figure === undefined ? '' : withSpread(figure, MICROSECONDS);
}

function contended(result, { runs }) {
  const at = (processes) =>
    Object.fromEntries(Object.entries(result).map(([name, all]) => [name, all[processes]]));
  return runs.flatMap(([processes, seconds]) => {
    const row_ = (label, text) =>
      row(`${processes} for ${seconds} s, ${label}`, at(processes), text);
    return [
      row_('locks a second', ({ perSecond }) => withSpread(perSecond)),
      row_('share of the least served', ({ leastShare }) => percent(leastShare)),
      row_('share of the most served', ({ mostShare }) => percent(mostShare)),
      row_('longest wait, ms', ({ longestWait }) => withSpread(longestWait, MILLISECONDS)),
      row_('hand-over, median µs', ({ handover }) => gap(handover.median)),
      row_('hand-over, p99 µs', ({ handover }) => gap(handover.p99)),
    ];
  });
}

function percent({ median }) {
  return `${digits(median * 100)} %`;
}

function gap(nanoseconds) {
  return nanoseconds === null || Number.isNaN(nanoseconds)
    ? ''
    : digits(nanoseconds * MICROSECONDS);
}

function waiting(result) {
  return [
    row('each waiter', result, withSpread),
    { label: 'a Node.js process that does nothing', cells: { [OWN]: withSpread(result[IDLE]) } },
  ];
}

function recovery(result) {
  return [
    ...quantiles(result, MILLISECONDS),
    row("the holder's resident memory, MiB", result, ({ holderBytes }) =>
      digits(holderBytes / 2 ** 20),
    ),
  ];
}

function queue(result, { runs, capMs }) {
  return runs.flatMap(([waiters]) => {
    const text = ({ [waiters]: figure }) => {
      const { served, median } = figure;
      if (median === undefined) return `none in ${capMs / 1000} s`;
      return served < waiters ? `${micro(figure)} (${served})` : micro(figure);
    };
    const label = `${waiters} waiting`;
    return [row(label, result, text), ...own(result, `${label}, named lock`, text)];
  });
}

function crowd(result) {
  return Object.keys(result[OWN]).flatMap((held) =>
    ['sync', 'async'].map((face) =>
      row(`${held} held, ${face}`, result, ({ [held]: figure }) => micro(figure[face])),
    ),
  );
}

function importing(result) {
  const milli = (figure) => withSpread(figure, MILLISECONDS);
  return [
    row('import', result, ({ imported }) => milli(imported)),
    row('import and first acquire', result, ({ held }) => milli(held)),
  ];
}
