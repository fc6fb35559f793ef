import { expect, test } from 'vitest';

import { expectEmpty } from '../helpers/bucket.js';
import { useDriver } from '../helpers/driver.js';
import { lineOf } from '../helpers/kernel-line.js';
import { lineUp, takeTurn, untilAtHead, untilInLine } from '../helpers/line-up.js';
import type { Participant } from '../helpers/participant.js';
import { RemoteError } from '../helpers/protocol.js';
import type { Resources } from '../helpers/protocol.js';
import { useTempDir } from '../helpers/temp-dir.js';
import { until } from '../helpers/until.js';

const driver = useDriver();
const temp = useTempDir();

/** Long enough to come to the place in line that is meant. */
const WAIT_MS = 4_000;

/** Who takes part, in the bucket of one case. */
interface Case {
  readonly bucket: string;
  readonly other: Participant;
  /** The process of whoever gives up. */
  readonly process: Participant;
  /** A thread of it. */
  readonly thread: Participant;
}

interface Stage {
  /** Before whoever gives up comes. */
  readonly before: (taking: Case) => Promise<void>;
  /** Once it has come. */
  readonly reached: (taking: Case) => Promise<void>;
  /** The turn of those before it, once the holder has released. */
  readonly after: (taking: Case) => Promise<void>;
}

const nothing = () => Promise.resolve();

const stages: Record<string, Stage> = {
  'behind others of its own process': {
    before: ({ bucket, process }) => lineUp(bucket, [process]),
    reached: ({ bucket, process }) => untilAtHead(bucket, process),
    after: ({ process }) => takeTurn(process),
  },
  'behind another process': {
    before: async ({ bucket, other }) => {
      await lineUp(bucket, [other]);
      await untilAtHead(bucket, other);
    },
    reached: ({ bucket, process }) => untilInLine(bucket, process),
    after: ({ other }) => takeTurn(other),
  },
  'at the head': {
    before: nothing,
    reached: ({ bucket, process }) => untilAtHead(bucket, process),
    after: nothing,
  },
};

/** Each begins to wait, and answers what makes it give up and how that must look. */
const ways: Record<string, (taking: Case) => Promise<() => Promise<void>>> = {
  abort: async ({ bucket, thread }) => {
    await thread.call('startWait', { bucket, wait: 'given up' });
    return async () => {
      await thread.call('abortWait', { wait: 'given up' });
      const { remote } = await thread.callToFail('endWait', { wait: 'given up' });
      expect(remote).toMatchObject({ name: 'Error', message: 'given up is aborted' });
    };
  },
  deadline: async ({ bucket, thread }) => {
    await thread.call('startWait', { bucket, waitMs: WAIT_MS, wait: 'given up' });
    return async () => {
      const { remote } = await thread.callToFail('endWait', { wait: 'given up' });
      expect(remote).toMatchObject({ name: 'BucketBusyError', report: { state: 'held' } });
    };
  },
  'synchronous deadline': ({ bucket, thread }) => {
    const waiting = thread.call('acquireSync', { bucket, waitMs: WAIT_MS });
    const failing = waiting.then(
      () => undefined,
      (error: unknown) => error,
    );
    return Promise.resolve(async () => {
      const error = await failing;
      expect(error).toBeInstanceOf(RemoteError);
      expect(error).toMatchObject({ remote: { name: 'BucketBusyError' } });
    });
  },
};

/** Resolves once the process has no more of anything than before. */
async function untilAsBefore(process: Participant, before: Resources): Promise<void> {
  await until('the process has closed what it opened', async () => {
    const now = await process.call('resources', {});
    return now.descriptors <= before.descriptors && now.threads <= before.threads;
  });
}

test.for(Object.entries(stages))(
  'giving up %s takes effect while the holder holds on, and lets the next one in',
  async ([, stage]) => {
    const [holder, other, process, next] = await driver.spawnMany(4);
    const cases = await Promise.all(
      Object.values(ways).map(async (begin) => {
        const thread = await driver.startWorker(process);
        return { bucket: temp.directory(), other, process, thread, begin };
      }),
    );
    // What a thread or a process has only once is there before.
    const wait = 'before';
    for (const { bucket, thread } of cases) {
      const { hold } = await holder.call('acquire', { bucket });
      await thread.call('startWait', { bucket, wait });
      await holder.call('release', { hold });
      const { hold: ofThread } = await thread.call('endWait', { wait });
      await thread.call('release', { hold: ofThread });
    }
    const before = await process.call('resources', {});
    // One after the other, since each process has one wait at a time of the name.
    for (const { begin, ...taking } of cases) {
      const { bucket } = taking;
      const { hold } = await holder.call('acquire', { bucket });
      await stage.before(taking);
      const giveUp = await begin(taking);
      await stage.reached(taking);
      await lineUp(bucket, [next]);
      await giveUp();
      expect(await holder.call('verify', { hold })).toBe(true);
      await holder.call('release', { hold });
      await stage.after(taking);
      await takeTurn(next);
      await expectEmpty(bucket);
    }
    await untilAsBefore(process, before);
  },
);

test('a head that gives up leaves its place at once', async () => {
  const [holder, head, next] = await driver.spawnMany(3);
  const bucket = temp.directory();
  await holder.call('acquire', { bucket });
  await lineUp(bucket, [head, next]);
  await untilAtHead(bucket, head);
  await head.call('abortWait', { wait: 'in line' });
  await untilAtHead(bucket, next);
  expect(lineOf(bucket)).toEqual([next.pid]);
});
