import { expect, test } from 'vitest';

import { useDriver } from '../helpers/driver.js';
import { useScripts } from '../helpers/script.js';
import { useTempDir } from '../helpers/temp-dir.js';

const driver = useDriver();
const temp = useTempDir();
const scripts = useScripts(temp);

test('a synchronous wait ends at its deadline while its thread also waits for another bucket', async () => {
  const holder = await driver.spawn();
  const buckets = { bucket: temp.directory(), other: temp.directory() };
  for (const bucket of Object.values(buckets)) await holder.call('acquire', { bucket });
  const { code, output } = await scripts.run(
    `import { readFileSync } from 'node:fs';
    import { setTimeout as sleep } from 'node:timers/promises';
    const controller = new AbortController();
    const { signal } = controller;
    const pending = new BucketLock(other).acquire({ waitMs: Infinity, signal });
    const over = pending.catch((error) => error.name);
    const blocked = new RegExp('-> FLOCK .* ' + process.pid + ' ');
    while (!blocked.test(readFileSync('/proc/locks', 'utf8'))) await sleep(5);
    try {
      // Longer than a line goes without an attempt out of turn.
      new BucketLock(bucket).acquireSync({ waitMs: 2_500 });
    } catch (error) {
      console.log(error.code);
    }
    controller.abort();
    console.log(await over);
    // Its thread is still blocked, and keeps nobody alive.`,
    { values: buckets },
  );
  expect(output.trim().split('\n')).toEqual(['ERR_BUCKET_BUSY', 'AbortError']);
  expect(code).toBe(0);
});
