import { join } from 'node:path';

import { expect } from 'vitest';
import type { TestContext } from 'vitest';

import { expectEmpty } from './bucket.js';
import type { Driver } from './driver.js';
import type { Participant } from './participant.js';
import { lacking } from './preload.js';
import type { Lack } from './preload.js';
import { leaveDeadRecord, writeRecord } from './records.js';
import type { RecordFields } from './records.js';
import { taken } from './taken.js';
import type { TempDir } from './temp-dir.js';
import { requireTool } from './tools.js';
import { traceThread } from './tracer.js';
import type { Effect, Trace, Tracer } from './tracer.js';

const WARM_UP_TURNS = 3;
/** Two at a time: as many as the smallest machine has processors. */
const LANES = 2;

export interface TurnOptions {
  readonly lockOptions?: Readonly<Record<string, unknown>>;
  /** Whether the turn begins with a dead record that has to be reclaimed. */
  readonly dead?: boolean;
  /** What the file system lacks, as far as all participants can tell. */
  readonly lacks?: readonly Lack[];
  /** Which command makes the turn, on the main thread or on a thread pool of one thread. */
  readonly command?: 'markedTurn' | 'markedTurnAsync';
}

/** The calls by which a lockfile may get its name. */
const PUBLISHING: readonly string[] = ['linkat', 'renameat2'];

/** A process of its own that makes one turn in a bucket of its own, step by step. */
export interface TracedTurn {
  readonly victim: Participant;
  readonly bucket: string;
  readonly tracer: Tracer;
  /** Settles with the turn. */
  readonly turn: Promise<unknown>;
}

/** The same turn over and over, the system calls of which are known. */
export class TracedTurns {
  readonly #driver: Driver;
  readonly #temp: TempDir;
  readonly #parent: string;
  readonly #options: TurnOptions;
  readonly #env: Readonly<Record<string, string>>;
  readonly #preparer: Participant;
  /** Is new to every bucket that it judges. */
  readonly #judge: Participant;
  #record: RecordFields | undefined;
  #reference: Trace = { names: [], before: new Map(), complete: false };
  #made = 0;

  private constructor(
    driver: Driver,
    temp: TempDir,
    options: TurnOptions,
    env: Readonly<Record<string, string>>,
    [judge, preparer]: readonly [Participant, Participant],
  ) {
    this.#driver = driver;
    this.#temp = temp;
    this.#parent = temp.directory('place');
    this.#options = options;
    this.#env = env;
    this.#judge = judge;
    this.#preparer = preparer;
  }

  /** Makes one turn to learn its system calls. */
  static async learn(
    context: TestContext,
    driver: Driver,
    temp: TempDir,
    options: TurnOptions,
  ): Promise<TracedTurns> {
    requireTool(context, 'strace');
    const { lacks = [] } = options;
    const env = lacks.length === 0 ? {} : lacking(context, temp, ...lacks);
    const others = [await driver.spawn({ env }), await driver.spawn({ env })] as const;
    const turns = new TracedTurns(driver, temp, options, env, others);
    await turns.#learn();
    return turns;
  }

  /** The names of a turn's system calls, in order; the last one marks its end. */
  get names(): readonly string[] {
    return this.#reference.names;
  }

  /** Makes a turn in which the call at `index`, counted as in `names`, has this effect. */
  make(index: number, effect: Effect): Promise<TracedTurn> {
    const { names, before } = this.#reference;
    const syscall = names[index] ?? '';
    const within = names.slice(0, index + 1).filter((name) => name === syscall).length;
    return this.#make({ syscall, occurrence: (before.get(syscall) ?? 0) + within, effect });
  }

  /** Whether the turn came as far as `index` the way that the first one went. */
  hasReached(trace: Trace, index: number): boolean {
    return trace.names.slice(0, index + 1).join() === this.names.slice(0, index + 1).join();
  }

  /** The next attempt of another process gets the lock, and then nothing is left behind. */
  async expectRecovered(bucket: string): Promise<void> {
    const { lockOptions = {} } = this.#options;
    const { hold } = taken(await this.#judge.call('tryAcquire', { bucket, lockOptions }));
    expect(await this.#judge.call('release', { hold })).toBe(true);
    await expectEmpty(bucket);
  }

  /** Calls `visit` with each index that `wanted` lets through. */
  async forEach(
    visit: (index: number) => Promise<void>,
    wanted: (name: string) => boolean = () => true,
  ): Promise<void> {
    const left = this.names.flatMap((name, index) => (wanted(name) ? [index] : []));
    const walk = async () => {
      for (let index = left.shift(); index !== undefined; index = left.shift()) await visit(index);
    };
    await Promise.all(Array.from({ length: LANES }, walk));
  }

  async #learn(): Promise<void> {
    const { dead = false, lacks = [], lockOptions } = this.#options;
    if (dead) this.#record = await leaveDeadRecord(this.#driver, this.#newBucket(), lockOptions);
    const { turn, tracer, bucket } = await this.#make();
    await turn;
    this.#reference = await tracer.stop();
    expect(this.#reference.complete).toBe(true);
    expect(this.names).toContain('flock');
    if (lacks.length > 0) {
      const published = this.names.filter((name) => PUBLISHING.includes(name));
      expect(published).toEqual([lacks.includes('no-exclusive-rename') ? 'linkat' : 'renameat2']);
    }
    await expectEmpty(bucket);
  }

  async #make(fault?: {
    syscall: string;
    occurrence: number;
    effect: Effect;
  }): Promise<TracedTurn> {
    const { command = 'markedTurn', lockOptions = {} } = this.#options;
    const victim = await this.#driver.spawn({ env: { ...this.#env, UV_THREADPOOL_SIZE: '1' } });
    // What a process does only once is done before.
    const warmUp = this.#newBucket();
    for (let turn = 0; turn < WARM_UP_TURNS; turn += 1) {
      await this.#makeReady(warmUp);
      await victim.call('markedTurn', { bucket: warmUp, lockOptions });
    }
    const bucket = this.#newBucket();
    await this.#makeReady(bucket);
    const log = join(this.#temp.path, `trace-${this.#made}.txt`);
    const thread = command === 'markedTurn' ? victim.tracePid : await victim.call('poolThread', {});
    const tracer = await traceThread(thread, log, fault);
    const turn = victim.call(command, { bucket, lockOptions });
    turn.catch(() => undefined);
    return { victim, bucket, tracer, turn };
  }

  /** An empty bucket, or one with a dead record. */
  async #makeReady(bucket: string): Promise<void> {
    const { lockOptions = {} } = this.#options;
    const { hold } = taken(await this.#preparer.call('tryAcquire', { bucket, lockOptions }));
    await this.#preparer.call('release', { hold });
    if (this.#record !== undefined) writeRecord(bucket, this.#record);
  }

  #newBucket(): string {
    this.#made += 1;
    return join(this.#parent, `bucket-${this.#made}`);
  }
}
