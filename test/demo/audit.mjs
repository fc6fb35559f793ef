// The proof: replays the journal of all turns and looks for two workers at once, and for a turn that
// the counter has lost.

/**
 * `kills`: when each killed worker was killed, by the same clock as the journal. A turn may lack its
 * end only if its worker was killed, and then before the next turn began.
 */
export function audit(journal, counter, kills) {
  const turns = new Turns(kills);
  for (const line of journal.split('\n').filter(Boolean)) turns.replay(line);
  return turns.conclude(counter);
}

class Turns {
  violations = [];
  /** Turns with an end. */
  finished = 0;
  /** Turns that a kill cut short, and how many of them had reached the counter already. */
  cut = 0;
  cutCounted = 0;
  handOvers = 0;
  /** Microseconds from each kill that cut a turn short to the next turn. */
  recoveries = [];

  #kills;
  /** The turn under way. */
  #open;
  #lastWorker;
  #counter = 0;

  constructor(kills) {
    this.#kills = kills;
  }

  replay(line) {
    const [what, name, ...numbers] = line.split(' ');
    const worker = Number(name);
    const [read, at] = numbers.map(Number);
    if (what === 'begin') this.#begin(worker, read, at);
    else if (what === 'left') this.#left(worker);
    else if (what === 'end') this.#end(worker);
    else this.#violated(`the journal has a line that no worker writes: ${line}`);
  }

  conclude(counter) {
    if (this.#open !== undefined) {
      if (this.#kills.has(this.#open.worker)) this.cut += 1;
      else {
        this.#violated(`worker ${this.#open.worker} did not finish its turn, and was not killed`);
      }
      this.#close(counter);
    }
    if (counter !== this.#counter) {
      this.#violated(`the counter ends at ${counter}, the last turn left ${this.#counter}`);
    }
    const { finished, cutCounted } = this;
    if (counter !== finished + cutCounted) {
      this.#violated(`the counter ends at ${counter} after ${finished} + ${cutCounted} turns`);
    }
    return this;
  }

  #begin(worker, read, at) {
    const before = this.#open;
    if (before !== undefined) {
      const killedAt = this.#kills.get(before.worker);
      if (killedAt === undefined || killedAt > at) {
        this.#violated(`worker ${worker} began beside worker ${before.worker}`);
      } else {
        this.cut += 1;
        this.recoveries.push(at - killedAt);
      }
      this.#close(read);
    }
    if (read !== this.#counter) {
      this.#violated(`worker ${worker} read ${read}, the turn before had left ${this.#counter}`);
    }
    if (this.#lastWorker !== undefined && this.#lastWorker !== worker) this.handOvers += 1;
    this.#lastWorker = worker;
    this.#open = { worker, read, afterCut: before !== undefined };
  }

  /** A sentinel stood there: the turn before must have been cut short. */
  #left(worker) {
    if (this.#open?.worker !== worker || !this.#open.afterCut) {
      this.#violated(`worker ${worker} met the sentinel of a turn that was not cut short`);
    }
  }

  #end(worker) {
    if (this.#open?.worker !== worker) {
      this.#violated(`worker ${worker} was still at work in the turn of another`);
      return;
    }
    this.#counter = this.#open.read + 1;
    this.#open = undefined;
    this.finished += 1;
  }

  /** A turn without an end: `next` is what the counter said when the next one looked. */
  #close(next) {
    this.#counter = this.#open.read;
    if (next === this.#counter + 1) {
      this.cutCounted += 1;
      this.#counter = next;
    }
    this.#open = undefined;
  }

  #violated(what) {
    this.violations.push(what);
  }
}
