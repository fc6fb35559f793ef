// What is known of the workers at the moment. For show: the proof is in the journal.

export class Board {
  rows;
  handOvers = 0;
  kills = 0;

  #holder;
  #previous;
  #heardAt = 0;

  constructor(workers) {
    this.rows = Array.from({ length: workers }, () => ({
      number: 0,
      pid: 0,
      state: 'starting',
      since: 0,
      turns: 0,
      longestWaitMs: 0,
    }));
  }

  /** The row of the current holder. */
  get holder() {
    return this.rows.find(({ number }) => number === this.#holder);
  }

  get turns() {
    return this.rows.reduce((sum, { turns }) => sum + turns, 0);
  }

  get longestWaitMs() {
    return Math.max(...this.rows.map(({ longestWaitMs }) => longestWaitMs));
  }

  started(slot, number, pid) {
    Object.assign(this.rows[slot], { number, pid, state: 'starting' });
  }

  ended(slot) {
    const row = this.rows[slot];
    if (row.number === this.#holder) this.#holder = undefined;
    row.state = 'ended';
  }

  killed() {
    this.kills += 1;
  }

  heard(slot, number, { state, at }) {
    const row = this.rows[slot];
    if (state === 'holding') {
      row.longestWaitMs = Math.max(row.longestWaitMs, (at - row.since) / 1000);
    }
    if (state === 'working' && row.state === 'holding') row.turns += 1;
    Object.assign(row, { state, since: at });
    this.#noteHolder(number, state, at);
  }

  /** Words of several workers come out of order: whoever took the lock last, holds it. */
  #noteHolder(number, state, at) {
    if (state === 'holding' && at >= this.#heardAt) {
      this.#heardAt = at;
      if (this.#previous !== undefined && this.#previous !== number) this.handOvers += 1;
      this.#holder = this.#previous = number;
    } else if (state !== 'holding' && this.#holder === number) {
      this.#holder = undefined;
    }
  }
}
