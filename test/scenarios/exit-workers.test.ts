import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { BucketLock } from '../../lib/bucket-lock.js';
import { lockfileOf } from '../helpers/records.js';
import { useScripts } from '../helpers/script.js';
import type { ScriptEnding } from '../helpers/script.js';
import { useTempDir } from '../helpers/temp-dir.js';

const temp = useTempDir();
const scripts = useScripts(temp);

const COUNTS = [1, 500] as const;

/**
 * One module for both threads. The main thread holds `own`, and the worker `count` locks in
 * folders of `parent`; `inMain` then runs with `worker`, `inWorker` with its `locks`.
 */
function withWorker(
  { inMain, inWorker }: { readonly inMain: string; readonly inWorker: string },
  values: { readonly own: string; readonly parent: string; readonly count: number },
): [body: string, options: { values: object & Record<string, unknown> }] {
  const body = `
    import { Worker, isMainThread, parentPort } from 'node:worker_threads';
    const ofMain = new BucketLock(own);
    if (isMainThread) {
      const held = await ofMain.acquire();
      const worker = new Worker(new URL(import.meta.url));
      worker.on('error', (error) => console.log('error', error.message));
      const ended = new Promise((resolve) => worker.once('exit', resolve));
      // Not events.once, which an error that overtakes the message would reject.
      await new Promise((resolve) => worker.once('message', resolve));
      ${inMain}
    } else {
      const locks = Array.from({ length: count }, (_, at) => new BucketLock(parent + '/bucket-' + at));
      await Promise.all(locks.map((lock) => lock.acquire({ waitMs: 0 })));
      const more = () => {
        for (const lock of locks) void lock.acquire({ waitMs: Infinity });
        for (const lock of locks) void new BucketLock(lock.path + '-more').acquire();
      };
      parentPort.postMessage('held');
      ${inWorker}
    }`;
  return [body, { values }];
}

/** For the main thread: once the worker has ended, nothing of it is left, and the own lock is ours. */
const REPORT = `
  await ended;
  const { readdirSync } = await import('node:fs');
  const buckets = readdirSync(parent);
  console.log(buckets.length >= count, buckets.filter((bucket) => readdirSync(parent + '/' + bucket).length > 0).length);
  console.log(await held.verify());`;

const STAY = `setInterval(() => {}, 60_000);`;

const endings: Record<string, { readonly inMain: string; readonly inWorker: string }> = {
  'its own end': { inMain: '', inWorker: 'parentPort.unref();' },
  'process.exit': { inMain: '', inWorker: 'process.exit(5);' },
  'process.exit in the turn that begins attempts and waits': {
    inMain: '',
    inWorker: 'more(); process.exit(5);',
  },
  'process.exit while attempts are under way and waits are pending': {
    inMain: '',
    inWorker: 'more(); setImmediate(() => process.exit(5));',
  },
  'an uncaught error': {
    inMain: '',
    inWorker: `setImmediate(() => { throw new Error('boom'); });`,
  },
  'an unhandled rejection': { inMain: '', inWorker: `void Promise.reject(new Error('boom'));` },
  'termination while it idles': { inMain: 'void worker.terminate();', inWorker: STAY },
  'termination in a busy loop': { inMain: 'void worker.terminate();', inWorker: 'for (;;);' },
  'termination while attempts are under way and waits are pending': {
    inMain: 'void worker.terminate();',
    inWorker: `more(); ${STAY}`,
  },
  'termination in a synchronous wait': {
    inMain: 'setTimeout(() => void worker.terminate(), 50);',
    inWorker: 'ofMain.acquireSync({ waitMs: Infinity });',
  },
};

const cases = Object.entries(endings).flatMap(([ending, inThreads]) =>
  COUNTS.map((count) => ({ ending, inThreads, count })),
);

test.for(cases)(
  '$ending of a worker with $count held leaves no lockfile',
  async ({ inThreads, count }) => {
    const values = { own: temp.directory('own'), parent: temp.directory(), count };
    const { output, code } = await scripts.run(
      ...withWorker({ ...inThreads, inMain: inThreads.inMain + REPORT }, values),
    );
    expect(output.replace('error boom\n', '')).toBe('true 0\ntrue\n');
    expect(code).toBe(0);
    expect(readdirSync(values.own)).toEqual([]);
  },
);

/** Nothing of either thread is left. */
function expectAllReleased({ code, output }: ScriptEnding, own: string, parent: string): void {
  expect([code, output]).toEqual([0, '']);
  for (const bucket of [own, ...readdirSync(parent).map((name) => join(parent, name))]) {
    expect(readdirSync(bucket)).toEqual([]);
  }
}

const mainEndings = {
  'the end of a main thread that does not wait for its worker': 'worker.unref();',
  'process.exit': 'process.exit(0);',
} as const;

test.for(
  Object.entries(mainEndings).flatMap(([ending, inMain]) =>
    ([STAY, 'for (;;);'] as const).map((inWorker) => ({ ending, inMain, inWorker })),
  ),
)(
  '$ending takes a worker along that does $inWorker, and leaves no lockfile',
  async ({ inMain, inWorker }) => {
    const values = { own: temp.directory('own'), parent: temp.directory(), count: 500 };
    const ended = await scripts.run(...withWorker({ inMain, inWorker }, values));
    expectAllReleased(ended, values.own, values.parent);
  },
);

test('the locks of a worker stay its own while the main thread is done and the worker runs', async () => {
  const values = {
    own: temp.directory('own'),
    parent: temp.directory(),
    count: 1,
    go: temp.directory('go'),
  };
  const [body, options] = withWorker(
    {
      // The last thing that this thread does: from here on only the worker keeps the process.
      inMain: `await held.release(); setImmediate(() => console.log('main is done'));`,
      inWorker: `
        const { existsSync } = await import('node:fs');
        const timer = setInterval(() => {
          if (!existsSync(go + '/now')) return;
          clearInterval(timer);
          parentPort.unref();
        }, 10);`,
    },
    values,
  );
  const script = scripts.start(body, options);
  await script.says('main is done');
  const bucket = join(values.parent, 'bucket-0');
  expect(new BucketLock(values.own).inspectSync().state).toBe('free');
  expect(new BucketLock(bucket).tryAcquireSync()).toBeNull();
  expect(readdirSync(bucket)).toEqual(['.lock']);
  writeFileSync(join(values.go, 'now'), '');
  expectAllReleased({ ...(await script.ended), output: '' }, values.own, values.parent);
});

test('a worker that ends takes no lock of another worker along', async () => {
  const buckets = [temp.directory(), temp.directory()] as const;
  const { output } = await scripts.run(
    `import { once } from 'node:events';
    import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
    if (isMainThread) {
      const workers = buckets.map((bucket) => new Worker(new URL(import.meta.url), { workerData: bucket }));
      await Promise.all(workers.map((worker) => once(worker, 'message')));
      await workers[0].terminate();
      console.log(buckets.map((bucket) => new BucketLock(bucket).inspectSync().state).join());
      workers[1].postMessage('verify');
      console.log(...(await once(workers[1], 'message')));
      await workers[1].terminate();
    } else {
      const held = await new BucketLock(workerData).acquire();
      parentPort.on('message', async () => parentPort.postMessage(await held.verify()));
      parentPort.postMessage('held');
    }`,
    { values: { buckets } },
  );
  expect(output).toBe('free,held\ntrue\n');
  for (const bucket of buckets) expect(existsSync(lockfileOf(bucket))).toBe(false);
});
