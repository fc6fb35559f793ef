import { expect, test } from 'vitest';

import { useScripts } from '../helpers/script.js';
import { useTempDir } from '../helpers/temp-dir.js';

const temp = useTempDir();
const scripts = useScripts(temp);

/**
 * One module for both threads. `inMain` has the `worker`, which has said something by then, and
 * `ended`; at the end the locks `a` and `b` must be there for everybody.
 */
function withWorker(inMain: string, inWorker: string): string {
  return `
    import { Worker, isMainThread, parentPort } from 'node:worker_threads';
    const { namedLock } = bucketlock;
    const a = namedLock('a', { waitMs: Infinity });
    const b = namedLock('b', { waitMs: Infinity });
    if (isMainThread) {
      const held = await a.acquire({ label: 'main' });
      const worker = new Worker(new URL(import.meta.url));
      worker.on('error', (error) => console.log('error', error.message));
      const ended = new Promise((resolve) => worker.once('exit', resolve));
      // Not events.once, which an error that overtakes the message would reject.
      await new Promise((resolve) => worker.once('message', resolve));
      ${inMain}
      await ended;
      held.releaseSync();
      for (const lock of [a, b]) {
        (await lock.acquire()).releaseSync();
        lock.acquireSync().releaseSync();
        console.log(lock.inspectSync().state);
      }
    } else {
      const say = (text) => parentPort.postMessage(text);
      const stay = () => setInterval(() => {}, 60_000);
      ${inWorker}
    }`;
}

const holding = `await b.acquire(); say('holds');`;

const endings: Record<string, { readonly inMain: string; readonly inWorker: string }> = {
  'its own end while it holds': { inMain: '', inWorker: `${holding} parentPort.unref();` },
  'process.exit while it holds': { inMain: '', inWorker: `${holding} process.exit(0);` },
  'an uncaught error while it holds': {
    inMain: '',
    inWorker: `${holding} setImmediate(() => { throw new Error('boom'); });`,
  },
  'termination while it holds': {
    inMain: 'void worker.terminate();',
    inWorker: `${holding} stay();`,
  },
  'termination in a busy loop inside a with': {
    inMain: 'void worker.terminate();',
    inWorker: `b.withSync(() => { say('holds'); for (;;); });`,
  },
  'termination while it waits': {
    inMain: 'void worker.terminate();',
    inWorker: `${holding} void a.acquire(); say('waits'); stay();`,
  },
  'process.exit in the turn that begins to wait': {
    inMain: '',
    inWorker: `void a.acquire(); say('waits'); process.exit(0);`,
  },
  'termination in a synchronous wait': {
    inMain: 'void worker.terminate();',
    inWorker: `void b.acquire(); a.acquireSync({ onWait: () => say('waits') });`,
  },
  'termination in a synchronous wait that is granted meanwhile': {
    inMain: 'held.releaseSync(); void worker.terminate();',
    inWorker: `a.acquireSync({ onWait: () => say('waits') }); for (;;);`,
  },
  'termination after a grant that it has not taken': {
    // The worker does not come to its event loop any more, so that the grant stays where it is.
    inMain: `
      held.releaseSync();
      console.log(a.tryAcquireSync(), a.inspectSync().label);
      void worker.terminate();`,
    inWorker: `void a.acquire({ label: 'worker' }); say('waits'); for (;;);`,
  },
  'termination with 10,000 waits of its own behind what it holds': {
    inMain: 'void worker.terminate();',
    inWorker: `${holding} for (let at = 0; at < 10_000; at += 1) void b.acquire(); stay();`,
  },
};

test.for(Object.entries(endings))(
  '%s leaves no lock and no place in line',
  async ([, { inMain, inWorker }]) => {
    const { code, output } = await scripts.run(withWorker(inMain, inWorker));
    const expected = output.replace('error boom\n', '').replace('null worker\n', '');
    expect([code, expected]).toEqual([0, 'free\nfree\n']);
    expect(output.includes('error boom')).toBe(inWorker.includes('boom'));
    expect(output.includes('null worker')).toBe(inWorker.includes(`label: 'worker'`));
  },
);

test('a worker that is terminated lets whoever waits behind it go on', async () => {
  const { code, output } = await scripts.run(
    withWorker(
      `const waiting = b.acquire();
      void worker.terminate();
      (await waiting).releaseSync();`,
      `${holding} stay();`,
    ),
  );
  expect([code, output]).toEqual([0, 'free\nfree\n']);
});

test('whoever waits synchronously for a worker goes on when the worker ends', async () => {
  const { code, output } = await scripts.run(
    withWorker(
      // The termination goes on by itself: this thread blocks.
      `void worker.terminate();
      b.acquireSync().releaseSync();`,
      `${holding} stay();`,
    ),
  );
  expect([code, output]).toEqual([0, 'free\nfree\n']);
});

test('many workers that are terminated at any moment leave nothing and let the others go on', async () => {
  const { code, output } = await scripts.run(`
    import { Worker, isMainThread } from 'node:worker_threads';
    const { namedLock } = bucketlock;
    const locks = ['a', 'b', 'c'].map((name) => namedLock(name, { waitMs: Infinity }));
    if (isMainThread) {
      let turns = 0;
      let ended = 0;
      for (let round = 0; round < 40; round += 1) {
        const worker = new Worker(new URL(import.meta.url), { argv: [round] });
        worker.once('exit', () => (ended += 1));
        await new Promise((resolve) => worker.once('online', resolve));
        for (let turn = 0; turn < round * 5; turn += 1) {
          await locks[turn % 3].with(() => (turns += 1));
        }
        const end = worker.terminate();
        for (const lock of locks) lock.acquireSync().releaseSync();
        await end;
      }
      for (const lock of locks) console.log(lock.inspectSync().state);
      console.log(turns, ended);
    } else {
      for (let turn = Number(process.argv[2]); ; turn += 1) {
        const lock = locks[turn % 3];
        if (turn % 2 === 0) locks[(turn + 1) % 3].withSync(() => {});
        else void lock.with(() => {}).catch(() => {});
        await lock.with(() => new Promise((resolve) => setImmediate(resolve)));
      }
    }`);
  expect([code, output]).toEqual([0, 'free\nfree\nfree\n3900 40\n']);
});
