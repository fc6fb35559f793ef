import { join } from 'node:path';

import { expect, test } from 'vitest';
import type { TestContext } from 'vitest';

import { expectEmpty } from '../helpers/bucket.js';
import { useDriver } from '../helpers/driver.js';
import { mountBindfs } from '../helpers/mounts.js';
import type { Participant } from '../helpers/participant.js';
import { leaveDeadRecord, writeRecord } from '../helpers/records.js';
import type { RecordFields } from '../helpers/records.js';
import { taken } from '../helpers/taken.js';
import { useTempDir } from '../helpers/temp-dir.js';
import { requireTool } from '../helpers/tools.js';
import { traceThread } from '../helpers/tracer.js';
import type { KillPoint, Trace } from '../helpers/tracer.js';

/** Two at a time: as many as the smallest machine has processors. */
const LANES = 2;
const WARM_UP_TURNS = 3;
/** The engine's own calls (memory, other threads) may come between; then the point is tried again. */
const TRIES = 10;

const driver = useDriver();
const temp = useTempDir();

interface Case {
  /** Makes a directory in which the buckets lie. */
  readonly place: (context: TestContext) => string;
  readonly lockOptions?: Readonly<Record<string, unknown>>;
  /** Whether the turn begins with a dead record that has to be reclaimed. */
  readonly dead: boolean;
  /** Which command makes the turn, on the main thread or on a thread pool of one thread. */
  readonly command?: 'markedTurn' | 'markedTurnAsync';
}

function withoutTmpfile(context: TestContext): string {
  requireTool(context, 'bindfs');
  const target = temp.directory('view');
  mountBindfs(temp.directory('source'), target);
  return target;
}

const cases: Record<string, Case> = {
  'of a fresh lock': { place: () => temp.directory('place'), dead: false },
  'over a dead record': { place: () => temp.directory('place'), dead: true },
  'of a fresh PID-only lock': {
    place: () => temp.directory('place'),
    lockOptions: { recordFormat: 'pid' },
    dead: false,
  },
  'of a fresh lock on the thread pool': {
    place: () => temp.directory('place'),
    dead: false,
    command: 'markedTurnAsync',
  },
  // There the private file has a name, and its kernel locks are vouched for.
  'where there are no nameless files': {
    place: withoutTmpfile,
    lockOptions: { trustKernelLocks: true },
    dead: false,
  },
  'over a dead record where there are no nameless files': {
    place: withoutTmpfile,
    lockOptions: { trustKernelLocks: true },
    dead: true,
  },
};

/** The call at `index` of the reference turn, counted as the tracer counts. */
function killPoint({ names, before }: Trace, index: number): KillPoint {
  const syscall = names[index] ?? '';
  const within = names.slice(0, index + 1).filter((name) => name === syscall).length;
  return { syscall, occurrence: (before.get(syscall) ?? 0) + within };
}

test.for(Object.entries(cases))(
  'a death at any system call of a turn %s costs nobody a wait and leaves no litter',
  async ([, { place, lockOptions = {}, dead, command = 'markedTurn' }], context) => {
    requireTool(context, 'strace');
    const parent = place(context);
    let made = 0;
    const newBucket = () => join(parent, `bucket-${(made += 1)}`);
    // The judge is new to every bucket: what is left there by a death is removed by first use.
    const [judge, preparer] = await driver.pool(2);
    const record = dead ? await leaveDeadRecordAt(newBucket(), lockOptions) : undefined;

    /** A process that has done all it does only once, and a bucket for its traced turn. */
    const prepare = async () => {
      const victim = await driver.spawn({ env: { UV_THREADPOOL_SIZE: '1' } });
      const warmUp = newBucket();
      for (let turn = 0; turn < WARM_UP_TURNS; turn += 1) {
        await makeReady(preparer, warmUp, lockOptions, record);
        await victim.call(command, { bucket: warmUp, lockOptions });
      }
      const bucket = newBucket();
      await makeReady(preparer, bucket, lockOptions, record);
      const log = join(temp.path, `trace-${made}.txt`);
      const thread =
        command === 'markedTurn' ? victim.tracePid : await victim.call('poolThread', {});
      return { victim, thread, bucket, log };
    };

    const { victim, thread, bucket, log } = await prepare();
    const tracer = await traceThread(thread, log);
    await victim.call(command, { bucket, lockOptions });
    const reference = await tracer.stop();
    expect(reference.complete).toBe(true);
    expect(reference.names).toContain('flock');
    await expectEmpty(bucket);

    const reach = async (index: number): Promise<void> => {
      const seen: Trace[] = [];
      for (let attempt = 0; attempt < TRIES; attempt += 1) {
        const { victim, thread, bucket, log } = await prepare();
        const tracer = await traceThread(thread, log, killPoint(reference, index));
        victim.call(command, { bucket, lockOptions }).catch(() => undefined);
        await Promise.race([victim.ended, tracer.ended]);
        await victim.kill();
        await tracer.ended;
        // Wherever it died: the claim holds there as well.
        await expectRecovered(judge, bucket, lockOptions);
        const trace = tracer.read();
        if (trace.names.join() === reference.names.slice(0, index + 1).join()) return;
        seen.push(trace);
      }
      throw new Error(
        `never killed at call ${index} of ${reference.names.join(' ')}, but after ` +
          seen.map(({ names }) => names.join(' ')).join(' | '),
      );
    };
    const left = reference.names.map((_, index) => index);
    await Promise.all(
      Array.from({ length: LANES }, async () => {
        for (let index = left.shift(); index !== undefined; index = left.shift()) {
          await reach(index);
        }
      }),
    );
  },
);

function leaveDeadRecordAt(
  bucket: string,
  lockOptions: Readonly<Record<string, unknown>>,
): Promise<RecordFields> {
  return leaveDeadRecord(driver, bucket, lockOptions);
}

/** An empty bucket, or one with a dead record. */
async function makeReady(
  preparer: Participant,
  bucket: string,
  lockOptions: Readonly<Record<string, unknown>>,
  record: RecordFields | undefined,
): Promise<void> {
  const { hold } = taken(await preparer.call('tryAcquire', { bucket, lockOptions }));
  await preparer.call('release', { hold });
  if (record !== undefined) writeRecord(bucket, record);
}

/** The very next attempt of another process gets the lock, and then nothing is left behind. */
async function expectRecovered(
  judge: Participant,
  bucket: string,
  lockOptions: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { hold } = taken(await judge.call('tryAcquire', { bucket, lockOptions }));
  expect(await judge.call('release', { hold })).toBe(true);
  await expectEmpty(bucket);
}
