import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { expectEmpty } from '../helpers/bucket.js';
import { useDriver } from '../helpers/driver.js';
import { lineUp, takeTurn, untilAtHead } from '../helpers/line-up.js';
import { useScripts } from '../helpers/script.js';
import { useTempDir } from '../helpers/temp-dir.js';

const driver = useDriver();
const temp = useTempDir();
const scripts = useScripts(temp);

/** A process in line, whose event loop stands still while it is granted what it gives up. */
const MEANWHILE = `
  const { existsSync } = await import('node:fs');
  const { setTimeout: sleep } = await import('node:timers/promises');
  const lock = new BucketLock(bucket);
  const held = await lock.acquire();
  const controller = new AbortController();
  const inLine = (options) => new Promise((onWait) => {
    const acquiring = lock.acquire({ waitMs: Infinity, ...options, onWait });
    acquiring.catch(() => undefined);
    setTimeout(onWait, 500);
    waits.push(acquiring);
  });
  const waits = [];
  const untilGranted = () => {
    while (lock.inspectSync().state !== 'held');
    if (lock.inspectSync().token === held.token) throw new Error('nobody was granted it');
  };`;

test('an abort of what is already granted gives it back, and the next one gets it', async () => {
  const { code, output } = await scripts.run(
    `${MEANWHILE}
    await inLine({ signal: controller.signal });
    await inLine({});
    held.releaseSync();
    untilGranted();
    controller.abort(new Error('enough'));
    console.log(await waits[0].catch((error) => error.message));
    console.log(await (await waits[1]).release());`,
    { values: { bucket: temp.directory() } },
  );
  expect([code, output]).toEqual([0, 'enough\ntrue\n']);
});

test('an abort of what is already granted gives it back, and another process gets it', async () => {
  const next = await driver.spawn();
  const bucket = temp.directory();
  const go = join(temp.directory('go'), 'go');
  const script = scripts.start(
    `${MEANWHILE}
    await inLine({ signal: controller.signal });
    console.log('in line');
    while (!existsSync(go)) await sleep(5);
    held.releaseSync();
    untilGranted();
    controller.abort(new Error('enough'));
    console.log(await waits[0].catch((error) => error.message));`,
    { values: { bucket, go } },
  );
  await script.says('in line');
  await untilAtHead(bucket, script);
  await lineUp(bucket, [next]);
  writeFileSync(go, '');
  expect(await script.ended).toMatchObject({ code: 0, output: 'in line\nenough\n' });
  await takeTurn(next);
  await expectEmpty(bucket);
});

test('what is granted when its deadline passes is taken, and the next one gets it afterwards', async () => {
  const { code, output } = await scripts.run(
    `${MEANWHILE}
    const waitMs = 2_000;
    const deadline = performance.now() + waitMs;
    await inLine({ waitMs });
    await inLine({});
    held.releaseSync();
    untilGranted();
    while (performance.now() < deadline + 10);
    console.log(await (await waits[0]).release());
    console.log(await (await waits[1]).release());`,
    { values: { bucket: temp.directory() } },
  );
  expect([code, output]).toEqual([0, 'true\ntrue\n']);
});
