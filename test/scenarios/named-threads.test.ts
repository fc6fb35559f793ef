import { expect, test } from 'vitest';

import { isStress } from '../helpers/rounds.js';
import { useScripts } from '../helpers/script.js';
import { useTempDir } from '../helpers/temp-dir.js';

const temp = useTempDir();
const scripts = useScripts(temp);

const WORKERS = 4;

/** One module for all threads: `inMain` has `workers`, `inWorker` its number `me`; both `shared`. */
function threads(inMain: string, inWorker: string, slots = 16): string {
  return `
    import { once } from 'node:events';
    import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
    const { namedLock } = bucketlock;
    const lock = namedLock('shared', { waitMs: Infinity });
    const shared = isMainThread
      ? new Int32Array(new SharedArrayBuffer(${slots} * 4))
      : workerData.shared;
    if (isMainThread) {
      const workers = Array.from(
        { length: ${WORKERS} },
        (_, me) => new Worker(new URL(import.meta.url), { workerData: { me, shared } }),
      );
      const exits = workers.map((worker) => once(worker, 'exit'));
      await Promise.all(workers.map((worker) => once(worker, 'message')));
      ${inMain}
      await Promise.all(exits);
    } else {
      const { me } = workerData;
      parentPort.postMessage('ready');
      ${inWorker}
    }`;
}

test('10,000 waiters of five threads are served in the order in which they came', async () => {
  const COUNT = 10_000;
  // Rounds of different sizes: who waits next to whom differs, and who hands over to itself.
  const body = threads(
    `const held = await lock.acquire();
    const granted = [];
    let next = 0;
    for (let round = 0; next < ${COUNT}; round += 1) {
      const size = Math.min(1 + ((round * 7) % 23), ${COUNT} - next);
      const worker = workers[round % ${WORKERS + 1}];
      if (worker === undefined) granted.push(...wait(next, size));
      else {
        worker.postMessage({ next, size });
        await once(worker, 'message');
      }
      next += size;
    }
    for (const worker of workers) worker.postMessage('end');
    held.releaseSync();
    await Promise.all(granted);
    await Promise.all(exits);
    const log = [...shared.subarray(1)];
    console.log(shared[0], log.every((ticket, at) => ticket === at), lock.inspectSync().state);`,
    `const granted = [];
    parentPort.on('message', async (message) => {
      if (message === 'end') {
        await Promise.all(granted);
        parentPort.unref();
        return;
      }
      granted.push(...wait(message.next, message.size));
      parentPort.postMessage('in line');
    });`,
    COUNT + 1,
  );
  const waitBody = `
    function wait(next, size) {
      return Array.from({ length: size }, async (_, at) => {
        const held = await lock.acquire();
        // Not atomic: nobody else is in here.
        shared[1 + shared[0]] = next + at;
        shared[0] += 1;
        if (at % 2 === 0) await null;
        held.releaseSync();
      });
    }`;
  const { code, output } = await scripts.run(body + waitBody);
  expect([code, output]).toEqual([0, `${COUNT} true free\n`]);
});

test('five threads that wait by both faces never hold at once, and each gets its turns', async () => {
  const TURNS = isStress ? 20_000 : 2_000;
  const body = threads(
    `await work(${WORKERS});
    await Promise.all(exits);
    console.log(shared[1], shared[2], lock.inspectSync().state);`,
    `await work(me);`,
  );
  const work = `
    async function work(me) {
      const enter = () => {
        if (shared[0] !== 0) shared[2] += 1;
        shared[0] = 1;
      };
      const leave = () => {
        shared[1] += 1;
        shared[0] = 0;
      };
      for (let turn = 0; turn < ${TURNS}; turn += 1) {
        switch ((turn * 7 + me) % 4) {
          case 0:
            lock.withSync(() => {
              enter();
              leave();
            });
            break;
          case 1: {
            // Pending while this thread waits synchronously for another name, held by another thread or not.
            const mine = lock.acquire();
            namedLock('other', { waitMs: Infinity }).acquireSync().releaseSync();
            const held = await mine;
            enter();
            leave();
            held.releaseSync();
            break;
          }
          default:
            await lock.with(async () => {
              enter();
              await null;
              leave();
            });
        }
      }
    }`;
  const { code, output } = await scripts.run(body + work);
  expect([code, output]).toEqual([0, `${(WORKERS + 1) * TURNS} 0 free\n`]);
});

test('a thread in a synchronous wait is passed over, and takes its turn afterwards', async () => {
  // The worker holds the other lock, so that the main thread blocks until the worker has had its turn.
  const body = threads(
    `for (const worker of workers.slice(1)) worker.postMessage('end');
    const [worker] = workers;
    const held = await lock.acquire();
    worker.postMessage('hold other');
    await once(worker, 'message');
    const mine = lock.acquire().then((granted) => {
      console.log('main');
      return granted.release();
    });
    worker.postMessage('wait');
    await once(worker, 'message');
    held.releaseSync();
    // Granted to this thread, which blocks before it can take it.
    namedLock('other').acquireSync({ waitMs: Infinity }).releaseSync();
    console.log('worker', shared[0]);
    await mine;`,
    `let other;
    parentPort.on('message', async (message) => {
      if (message === 'end') parentPort.unref();
      if (message === 'hold other') {
        other = await namedLock('other').acquire();
        parentPort.postMessage('held');
      }
      if (message === 'wait') {
        const waiting = lock.acquire();
        parentPort.postMessage('in line');
        const held = await waiting;
        shared[0] += 1;
        held.releaseSync();
        other.releaseSync();
        parentPort.unref();
      }
    });`,
  );
  const { code, output } = await scripts.run(body);
  expect([code, output]).toEqual([0, 'worker 1\nmain\n']);
});

test('a deadline and an abort leave the line of another thread, and who is behind moves up', async () => {
  const body = threads(
    `const held = await lock.acquire();
    const [first, second, ...rest] = workers;
    for (const worker of rest) worker.postMessage('end');
    const answers = [first, second].map((worker) => once(worker, 'message'));
    first.postMessage('abort');
    second.postMessage('late');
    console.log((await Promise.all(answers)).join());
    const [third] = rest;
    held.releaseSync();
    (await lock.acquire()).releaseSync();`,
    `parentPort.on('message', async (message) => {
      parentPort.unref();
      if (message === 'end') return;
      const controller = new AbortController();
      const waiting =
        message === 'abort'
          ? lock.acquire({ signal: controller.signal })
          : lock.acquire({ waitMs: 30 });
      controller.abort(new Error('enough'));
      const reason = await waiting.catch((error) => error);
      parentPort.postMessage(reason.code ?? reason.message);
    });`,
  );
  const { code, output } = await scripts.run(body);
  expect([code, output]).toEqual([0, 'enough,ERR_LOCK_BUSY\n']);
});

test('a synchronous wait ends by its deadline, and says who holds the lock', async () => {
  const body = threads(
    `const held = await lock.acquire({ label: 'main' });
    const [worker, ...rest] = workers;
    for (const other of rest) other.postMessage('end');
    worker.postMessage('wait');
    const [[message]] = [await once(worker, 'message')];
    console.log(message);
    held.releaseSync();`,
    `parentPort.on('message', (message) => {
      parentPort.unref();
      if (message === 'end') return;
      let told = 0;
      try {
        lock.acquireSync({ waitMs: 120, onWait: () => (told += 1) });
      } catch ({ code, report, waitedMs }) {
        parentPort.postMessage([code, report.label, report.thisProcess, waitedMs >= 120, told].join());
      }
    });`,
  );
  const { code, output } = await scripts.run(body);
  expect([code, output]).toEqual([0, 'ERR_LOCK_BUSY,main,true,true,1\n']);
});
