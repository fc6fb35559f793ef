import { expect, test } from 'vitest';

import { useScripts } from '../helpers/script.js';
import { useTempDir } from '../helpers/temp-dir.js';

const temp = useTempDir();
const scripts = useScripts(temp);

/** In one process with one lock. */
function withLock(body: string): string {
  return `
    import { Worker, isMainThread, parentPort } from 'node:worker_threads';
    const { namedLock } = bucketlock;
    const lock = namedLock('a', { waitMs: Infinity });
    process.on('exit', (code) => { if (isMainThread) console.log('exit', code); });
    ${body}`;
}

test('a lock that is held, and an addon that idles, keep no process alive', async () => {
  const body = `
    const held = await lock.acquire();
    await held.release();
    await lock.acquire();
    lock.acquire({ waitMs: 0 }).catch(({ code }) => console.log(code));`;
  const { code, output } = await scripts.run(withLock(body));
  expect([code, output]).toEqual([0, 'ERR_LOCK_BUSY\nexit 0\n']);
});

test('a wait keeps the process alive until its deadline', async () => {
  const body = `
    await lock.acquire();
    lock.acquire({ waitMs: 150 }).catch(({ code }) => console.log(code));`;
  const { code, output } = await scripts.run(withLock(body));
  expect([code, output]).toEqual([0, 'ERR_LOCK_BUSY\nexit 0\n']);
});

test('a wait without a deadline keeps the process alive, until it is aborted', async () => {
  const body = `
    await lock.acquire();
    const controller = new AbortController();
    process.once('SIGTERM', () => controller.abort(new Error('enough')));
    lock.acquire({ signal: controller.signal }).catch(({ message }) => console.log(message));
    console.log('waits');`;
  const script = scripts.start(withLock(body));
  await script.says('waits');
  script.signal('SIGTERM');
  const { code, output } = await script.ended;
  expect([code, output]).toEqual([0, 'waits\nenough\nexit 0\n']);
});

test('a wait that is granted keeps the process alive until it is taken', async () => {
  const body = `
    const held = await lock.acquire();
    lock.acquire().then(() => console.log('granted'));
    setImmediate(() => held.releaseSync());`;
  const { code, output } = await scripts.run(withLock(body));
  expect([code, output]).toEqual([0, 'granted\nexit 0\n']);
});

test('process.exit ends a process with waits pending and locks held, in all its threads', async () => {
  const body = `
    if (isMainThread) {
      await lock.acquire();
      for (let at = 0; at < 100; at += 1) void lock.acquire();
      const worker = new Worker(new URL(import.meta.url));
      await new Promise((resolve) => worker.once('message', resolve));
      process.exit(3);
    } else {
      void namedLock('b').acquire();
      void lock.acquire();
      namedLock('c').withSync(() => {
        lock.acquireSync({ detached: true, onWait: () => parentPort.postMessage('waits') });
      });
    }`;
  const { code, output } = await scripts.run(withLock(body));
  expect([code, output]).toEqual([3, 'exit 3\n']);
});

test('an uncaught error ends a process with waits pending', async () => {
  const body = `
    await lock.acquire();
    void lock.acquire();
    setImmediate(() => { throw new Error('boom'); });`;
  const { code, output } = await scripts.run(withLock(body));
  expect(code).toBe(1);
  expect(output).toContain('Error: boom');
});

test('a worker with a wait pending keeps running, and ends when it is over', async () => {
  const body = `
    if (isMainThread) {
      const held = await lock.acquire();
      const worker = new Worker(new URL(import.meta.url));
      const ended = new Promise((resolve) => worker.once('exit', resolve));
      await new Promise((resolve) => worker.once('message', resolve));
      const first = await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 250, 'runs'))]);
      held.releaseSync();
      console.log(first, await ended);
    } else {
      lock.acquire().then((held) => held.releaseSync());
      parentPort.postMessage('waits');
    }`;
  const { code, output } = await scripts.run(withLock(body));
  expect([code, output]).toEqual([0, 'runs 0\nexit 0\n']);
});
