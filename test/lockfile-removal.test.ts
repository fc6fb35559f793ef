import { spawnSync } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { afterEach, expect, test, vi } from 'vitest';

import { isLockError } from '../lib/error-guards.js';
import {
  LOCKFILE_UNLINK_RETRY_MS,
  unlinkLockfile,
  unlinkLockfileSync,
} from '../lib/lockfile-removal.js';
import type { UnlinkLockfileOptions } from '../lib/lockfile-removal.js';
import { loadAddon } from '../lib/native.js';
import type { NativeRemoval } from '../lib/native.js';
import { program } from './helpers/program.js';
import { useTempDir } from './helpers/temp-dir.js';
import { requireTool } from './helpers/tools.js';

const temp = useTempDir();

type Unlink = (path: string | URL, options?: UnlinkLockfileOptions) => Promise<boolean>;

const faces: readonly [string, Unlink][] = [
  ['unlinkLockfile', unlinkLockfile],
  // eslint-disable-next-line @typescript-eslint/require-await -- turns what it throws into a rejection
  ['unlinkLockfileSync', async (path, options) => unlinkLockfileSync(path, options)],
];

afterEach(() => vi.restoreAllMocks());

function newFile(): string {
  const path = join(temp.directory(), 'legacy.lock');
  writeFileSync(path, '1\n');
  return path;
}

/** Another program keeps the file open for this many attempts, as only Windows can show it. */
function blockFor(attempts: number): void {
  let left = attempts;
  const outcome = (): NativeRemoval => {
    left -= 1;
    return { outcome: left >= 0 ? 'busy' : 'removed' };
  };
  vi.spyOn(loadAddon(), 'removePathSync').mockImplementation(outcome);
  vi.spyOn(loadAddon(), 'removePath').mockImplementation(() => Promise.resolve(outcome()));
}

test('the budget of a removal that must succeed is ten seconds', () => {
  expect(LOCKFILE_UNLINK_RETRY_MS).toBe(10_000);
});

test.for(faces)('%s removes a file, and an absent one is gone too', async ([, unlink]) => {
  const path = newFile();
  expect(await unlink(path)).toBe(true);
  expect(existsSync(path)).toBe(false);
  expect(await unlink(path)).toBe(true);
  expect(await unlink(join(path, '..', 'no', 'such', 'folder'))).toBe(true);
});

test.for(faces)('%s takes a file: URL', async ([, unlink]) => {
  const path = newFile();
  expect(await unlink(pathToFileURL(path))).toBe(true);
  expect(existsSync(path)).toBe(false);
});

test.for(faces)('%s removes a symbolic link and not what it leads to', async ([, unlink]) => {
  const target = newFile();
  symlinkSync(target, `${target}.link`);
  expect(await unlink(`${target}.link`)).toBe(true);
  expect(readFileSync(target, 'utf8')).toBe('1\n');
});

test.for(faces)('%s of a directory raises at once, budget or not', async ([, unlink]) => {
  const path = join(temp.directory(), 'directory');
  mkdirSync(path);
  const error = await unlink(path, { retryMs: Infinity }).catch((reason: unknown) => reason);
  expect(isLockError(error)).toBe(true);
  expect(error).toMatchObject({ code: 'EISDIR', path, syscall: 'unlink' });
  expect(error).toHaveProperty(
    'message',
    `Cannot remove the lockfile '${path}': EISDIR: illegal operation on a directory, unlink '${path}'`,
  );
  expect(existsSync(path)).toBe(true);
});

test('a denied permission raises at once with its code, and leaves the file', (context) => {
  requireTool(context, 'root');
  const path = newFile();
  chmodSync(join(path, '..'), 0o755);
  const script = `
    const { unlinkLockfile, unlinkLockfileSync } = await import(${JSON.stringify(pathToFileURL(program.entry).href)});
    const path = ${JSON.stringify(path)};
    const codes = [];
    for (const unlink of [unlinkLockfile, async (...all) => unlinkLockfileSync(...all)])
      codes.push(await unlink(path, { retryMs: Infinity }).then(String, (error) => [error.name, error.code, error.path]));
    console.log(JSON.stringify(codes));`;
  const { stdout } = spawnSync(program.node, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
    uid: 65534,
    gid: 65534,
  });
  expect(JSON.parse(stdout)).toEqual(Array(2).fill(['LockError', 'EACCES', path]));
  expect(existsSync(path)).toBe(true);
});

test.for(faces)('%s waits for whoever keeps the file open', async ([, unlink]) => {
  blockFor(3);
  expect(await unlink(newFile(), { retryMs: LOCKFILE_UNLINK_RETRY_MS })).toBe(true);
});

test.for(faces)(
  '%s makes one attempt by default, and blocked is no success',
  async ([, unlink]) => {
    blockFor(1);
    expect(await unlink(newFile())).toBe(false);
  },
);

test.for(faces)('%s that outlasts its budget resolves false', async ([, unlink]) => {
  blockFor(Infinity);
  expect(await unlink(newFile(), { retryMs: 50 })).toBe(false);
});

test.for(faces)('%s publishes its reason and its outcome', async ([, unlink]) => {
  const path = newFile();
  const messages: unknown[] = [];
  const note = (message: unknown): void => void messages.push(message);
  subscribe('bucketlock:unlink', note);
  try {
    await unlink(path, { reason: 'left by version 1' });
    await unlink(path);
    blockFor(Infinity);
    await unlink(path, { retryMs: 30 });
  } finally {
    unsubscribe('bucketlock:unlink', note);
  }
  const waitedMs = expect.any(Number) as number;
  expect(messages).toEqual([
    { path, outcome: 'removed', waitedMs, reason: 'left by version 1' },
    { path, outcome: 'absent', waitedMs },
    { path, outcome: 'blocked', waitedMs },
  ]);
  expect((messages[2] as { waitedMs: number }).waitedMs).toBeGreaterThanOrEqual(30);
});

const wrongUses: readonly [string, unknown, unknown, string, string][] = [
  ['a number as path', 4711, undefined, 'TypeError', 'ERR_INVALID_ARG_TYPE'],
  ['an empty path', '', undefined, 'TypeError', 'ERR_INVALID_ARG_VALUE'],
  ['a NUL in the path', 'a\0b', undefined, 'TypeError', 'ERR_INVALID_ARG_VALUE'],
  [
    'a URL of another kind',
    new URL('http://a/b'),
    undefined,
    'TypeError',
    'ERR_INVALID_URL_SCHEME',
  ],
  ['a negative retryMs', 'a', { retryMs: -1 }, 'RangeError', 'ERR_OUT_OF_RANGE'],
  ['a retryMs that is text', 'a', { retryMs: '1s' }, 'TypeError', 'ERR_INVALID_ARG_TYPE'],
  ['a reason that is no text', 'a', { reason: 1 }, 'TypeError', 'ERR_INVALID_ARG_TYPE'],
  ['an unknown option', 'a', { retry: 1 }, 'TypeError', 'ERR_INVALID_ARG_VALUE'],
];

test.for(wrongUses)('%s is refused', async ([, path, options, name, code]) => {
  for (const [, unlink] of faces) {
    await expect(unlink(path as string, options as UnlinkLockfileOptions)).rejects.toMatchObject({
      name,
      code,
    });
  }
});
