/** How much of what is measured. */
export const FULL = {
  uncontended: { rounds: 15, count: 1_000 },
  handover: { rounds: 100 },
  // Processes, seconds.
  contended: {
    rounds: 1,
    runs: [
      [2, 5],
      [8, 3],
      [32, 5],
      [64, 10],
    ],
  },
  waiting: { rounds: 1, waiters: 8, settleMs: 1_000, windowMs: 5_000 },
  // What proper-lockfile takes for stale is its default.
  recovery: { rounds: 100, agedRounds: 3, staleMs: 10_000 },
  // Waiters, rounds.
  queue: {
    runs: [
      [1, 20],
      [100, 5],
      [10_000, 1],
    ],
    capMs: 10_000,
  },
  crowd: { others: [1, 100, 10_000], rounds: 7, count: 300 },
  abort: { rounds: 100 },
  import: { rounds: 40 },
};

/** Shows that everything works; the figures mean little. */
export const QUICK = {
  uncontended: { rounds: 1, count: 20 },
  handover: { rounds: 1 },
  contended: {
    rounds: 1,
    runs: [
      [2, 0.1],
      [3, 0.1],
    ],
  },
  waiting: { rounds: 1, waiters: 1, settleMs: 50, windowMs: 100 },
  recovery: { rounds: 1, agedRounds: 1, staleMs: 2_000 },
  queue: { runs: [[3, 1]], capMs: 5_000 },
  crowd: { others: [3], rounds: 1, count: 10 },
  abort: { rounds: 1 },
  import: { rounds: 1 },
};
