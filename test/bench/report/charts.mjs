import { CONTENDERS } from '../contenders/index.mjs';
import { bars, lines } from './chart.mjs';
import { MICROSECONDS, MILLISECONDS } from './format.mjs';

/** The charts by name, of those parts that were measured. */
export function charts(results) {
  return Object.fromEntries(
    Object.entries(drawers)
      .filter(([, { part }]) => results[part] !== undefined)
      .map(([name, { part, draw }]) => [name, draw(results[part], results.sizes[part])]),
  );
}

const drawers = {
  uncontended: { part: 'uncontended', draw: uncontended },
  handover: { part: 'handover', draw: handover },
  throughput: { part: 'contended', draw: throughput },
  fairness: { part: 'contended', draw: fairness },
  waiting: { part: 'waiting', draw: waiting },
  recovery: { part: 'recovery', draw: recovery },
  queue: { part: 'queue', draw: queue },
  crowd: { part: 'crowd', draw: crowd },
};

/** Pairs of a contender and what `pick` finds in its figures, where it finds something. */
function pairsOf(figures, pick) {
  return CONTENDERS.map((name) => [name, figures[name] && pick(figures[name])]).filter(
    ([, value]) => Number.isFinite(value),
  );
}

/** Of each contender a point for each `x` where `pick` finds something. */
function pointsOf(figures, xs, pick) {
  const points = CONTENDERS.map((name) => [
    name,
    xs.map((x) => [x, pick(figures[name]?.[x])]).filter(([, y]) => Number.isFinite(y)),
  ]);
  return Object.fromEntries(points.filter(([, all]) => all.length > 0));
}

function uncontended({ disk }) {
  return bars({
    text: 'Acquire and release, uncontended',
    subtext: 'on disk; asynchronous, but the C program',
    unit: 'microseconds, less is better',
    pairs: pairsOf(disk, (figure) => (figure.async ?? figure.sync).median * MICROSECONDS),
  });
}

function handover(result) {
  return bars({
    text: 'Hand-over to another process',
    subtext: 'from the release to held in the process that waits, median',
    unit: 'microseconds, less is better',
    pairs: pairsOf(result, ({ median }) => median * MICROSECONDS),
  });
}

function throughput(result, { runs }) {
  const processes = runs.map(([count]) => count);
  return lines({
    text: 'Throughput of processes that take turns',
    subtext: 'locks a second, more is better',
    x: { name: 'processes', min: processes[0], max: processes.at(-1), ticks: processes },
    y: { name: 'locks a second' },
    points: pointsOf(result, processes, (figure) => figure?.perSecond.median),
  });
}

/** Nothing is no point of a logarithmic axis. */
const LEAST_SHOWN = 0.01;

function fairness(result, { runs }) {
  const [processes, seconds] = runs.at(-1);
  const points = CONTENDERS.map((name) => {
    const { served } = result[name][processes];
    const mean =
      Math.max(
        1,
        served.reduce((sum, count) => sum + count, 0),
      ) / processes;
    return [name, served.map((count, at) => [at + 1, Math.max(count / mean, LEAST_SHOWN)])];
  });
  return lines({
    text: `How evenly ${processes} processes are served in ${seconds} s`,
    subtext: `1 is an equal share, flat is fair; ${LEAST_SHOWN} stands for less, too`,
    x: { name: 'processes, from the most to the least served', min: 1, max: processes },
    y: { name: 'times an equal share' },
    xType: 'value',
    points: Object.fromEntries(points),
  });
}

function waiting(result, { waiters }) {
  return bars({
    text: 'CPU time that waiting takes',
    subtext: `of one of ${waiters} processes behind a holder that keeps the lock`,
    unit: 'CPU milliseconds a minute of waiting, less is better',
    pairs: pairsOf(result, ({ median }) => median),
  });
}

function recovery(result) {
  return bars({
    text: 'Recovery after the SIGKILL of the holder',
    subtext: 'until held by the process that waits, median; who is missing does not recover',
    unit: 'milliseconds, less is better',
    pairs: pairsOf(result, ({ median }) => median * MILLISECONDS),
  });
}

function queue(result, { runs }) {
  const waiters = runs.map(([count]) => count);
  return lines({
    text: 'Waiting calls of one process',
    subtext: 'a hand-over from one to the next, less is better',
    x: { name: 'waiting calls', ticks: waiters },
    y: { name: 'microseconds' },
    points: pointsOf(result, waiters, (figure) => figure && figure.median * MICROSECONDS),
  });
}

function crowd(result) {
  const others = Object.keys(result.bucketlock).map(Number);
  return lines({
    text: 'Acquire and release while other locks are held',
    subtext: 'uncontended, on tmpfs; asynchronous, but the C program; less is better',
    x: { name: 'other locks held by the process', ticks: others },
    y: { name: 'microseconds' },
    points: pointsOf(result, others, (figure) => {
      const face = figure?.async ?? figure?.sync;
      return face && face.median * MICROSECONDS;
    }),
  });
}
