import { linkSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { expect, test } from 'vitest';

import { copyPackage } from '../helpers/package-copy.js';
import { program } from '../helpers/program.js';
import { useScripts } from '../helpers/script.js';
import { useTempDir } from '../helpers/temp-dir.js';

const temp = useTempDir();
const scripts = useScripts(temp);

const addon = join('build', 'Release', 'bucketlock.node');

/** Two copies of the package; the second has the first one's very addon file, if so asked. */
function twoCopies(addons: 'one addon' | 'two addons'): { values: Record<string, string> } {
  const [first, second] = [temp.directory('first'), temp.directory('second')];
  const entries = [copyPackage(first), copyPackage(second)].map((path) => pathToFileURL(path).href);
  // What both would fall back on is another file again.
  for (const copy of [first, second]) rmSync(join(copy, 'prebuilds'), { recursive: true });
  if (addons === 'one addon') {
    rmSync(join(second, addon));
    mkdirSync(join(second, 'build', 'Release'), { recursive: true });
    linkSync(join(first, addon), join(second, addon));
  }
  return { values: { first: entries[0] ?? '', second: entries[1] ?? '' } };
}

const IMPORT = `
  const [ours, theirs] = await Promise.all([import(first), import(second)]);
  const name = 'shared';
  const [mine, yours] = [ours.namedLock(name), theirs.namedLock(name)];`;

test('import and require give the same locks', async () => {
  const { code, output } = await scripts.run(
    `import { createRequire } from 'node:module';
    const required = createRequire(import.meta.url)(entry);
    const held = await required.namedLock('shared').acquire();
    console.log(await bucketlock.namedLock('shared').tryAcquire());
    console.log(required.namedLock === bucketlock.namedLock);`,
    { values: { entry: program.entry }, env: { NODE_NO_WARNINGS: '1' } },
  );
  expect([code, output]).toEqual([0, 'null\ntrue\n']);
});

test('copies of the package that load one addon file have the same locks, in one line', async () => {
  const { code, output } = await scripts.run(
    `${IMPORT}
    console.log(mine.constructor === yours.constructor);
    const held = await mine.acquire({ label: 'ours' });
    const report = yours.inspectSync();
    console.log(report.label, report.token === held.token);
    try {
      yours.acquireSync({ waitMs: Infinity });
    } catch ({ code }) {
      console.log(code);
    }
    const order = [];
    const waiting = [mine, yours, yours, mine, yours].map(async (lock, at) => {
      const next = await lock.acquire({ waitMs: Infinity });
      order.push(at);
      next.releaseSync();
    });
    held.releaseSync();
    await Promise.all(waiting);
    console.log(order.join());
    await mine.with(() => yours.with(() => {})).catch(({ code }) => console.log(code));
    // What one has pending is passed over while the other blocks this thread.
    const again = await mine.acquire();
    const pending = yours.acquire({ waitMs: Infinity });
    again.releaseSync();
    mine.acquireSync({ waitMs: Infinity, detached: true }).releaseSync();
    (await pending).releaseSync();
    console.log(mine.inspectSync().state, yours.inspectSync().state);`,
    twoCopies('one addon'),
  );
  const words = ['false', 'ours true', 'ERR_LOCK_REENTRY', '0,1,2,3,4', 'ERR_LOCK_REENTRY'];
  expect([code, output]).toEqual([0, [...words, 'free free', ''].join('\n')]);
});

test('copies of the package with addon files of their own have locks of their own', async () => {
  const { code, output } = await scripts.run(
    `${IMPORT}
    const held = await mine.acquire();
    const other = await yours.tryAcquire();
    console.log(other.name, held.token === other.token);
    // Neither takes the other's lock for its own.
    console.log(await ours.namedLock('nested').with(() => theirs.namedLock('nested').with(() => 'in')));`,
    twoCopies('two addons'),
  );
  expect([code, output]).toEqual([0, 'shared false\nin\n']);
});
