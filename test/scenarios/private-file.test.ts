import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { useDriver } from '../helpers/driver.js';
import { mountBindfs } from '../helpers/mounts.js';
import { useTempDir } from '../helpers/temp-dir.js';
import { requireTool } from '../helpers/tools.js';

const driver = useDriver();
const temp = useTempDir();

const PRIVATE = `.lock.${'0123456789abcdef'.repeat(2)}`;
const HOUR_S = 3_600;

test('a dead creator’s private file goes, and no other file does', async (context) => {
  // Where a private file has a name. Its kernel locks prove nothing, so that age must decide.
  requireTool(context, 'bindfs');
  const view = temp.directory('view');
  mountBindfs(temp.directory('source'), view);
  const bucket = join(view, 'bucket');
  mkdirSync(bucket);
  const others = ['.lock.0123', `${PRIVATE}0`, `.lock.${'x'.repeat(32)}`, 'data'];
  for (const name of [PRIVATE, ...others]) writeFileSync(join(bucket, name), '1');

  const useOnce = async () => {
    const user = await driver.spawn();
    const { hold } = await user.call('acquire', { bucket, waitMs: 0 });
    expect(await user.call('release', { hold })).toBe(true);
  };
  await useOnce();
  expect(readdirSync(bucket).sort()).toEqual([PRIVATE, ...others].sort());

  const longAgo = Date.now() / 1000 - HOUR_S;
  for (const name of [PRIVATE, ...others]) utimesSync(join(bucket, name), longAgo, longAgo);
  await useOnce();
  expect(readdirSync(bucket).sort()).toEqual(others.sort());
});
