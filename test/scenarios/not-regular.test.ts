import { execFileSync } from 'node:child_process';
import {
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { join } from 'node:path';

import { expect, test } from 'vitest';
import type { TestContext } from 'vitest';

import { useDriver } from '../helpers/driver.js';
import { mustEnd } from '../helpers/must-block.js';
import { lockfileOf } from '../helpers/records.js';
import { useTempDir } from '../helpers/temp-dir.js';
import { requireTool } from '../helpers/tools.js';

const driver = useDriver();
const temp = useTempDir();

const servers: Server[] = [];

function listenAt(path: string): Promise<void> {
  const server = createServer();
  servers.push(server);
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
}

const places: Record<string, (path: string, context: TestContext) => unknown> = {
  'an empty directory': (path) => {
    mkdirSync(path);
  },
  'a directory with content': (path) => {
    mkdirSync(path);
    writeFileSync(join(path, 'content'), '');
  },
  'a symlink to a dead record': (path) => {
    writeFileSync(`${path}-target`, '2147483647\n');
    symlinkSync(`${path}-target`, path);
  },
  'a symlink to nothing': (path) => {
    symlinkSync(`${path}-target`, path);
  },
  'a symlink to itself': (path) => {
    symlinkSync('.lock', path);
  },
  'a FIFO': (path, context) => {
    requireTool(context, 'mkfifo');
    execFileSync('mkfifo', [path]);
  },
  'a socket': (path) => listenAt(path),
};

test.for(Object.entries(places))(
  '%s in place of the lockfile is refused, not followed, not waited for, not touched',
  async ([, make], context) => {
    const bucket = temp.directory();
    await make(lockfileOf(bucket), context);
    const kind = lstatSync(lockfileOf(bucket)).mode;
    const before = readdirSync(bucket);

    // A participant of its own: one that hangs in the kernel must not spoil the other tests.
    const judge = await driver.spawn();
    const commands = ['tryAcquire', 'tryAcquireSync', 'inspect', 'inspectSync'] as const;
    for (const command of commands) {
      const error = await mustEnd(command, judge.callToFail(command, { bucket }));
      expect(error.remote).toMatchObject({
        name: 'BucketValidationError',
        reason: 'lockfile_not_regular',
      });
    }
    // Waiting does not cure it: `acquire` fails at once with an hour to go.
    for (const command of ['acquire', 'acquireSync'] as const) {
      const waiting = judge.callToFail(command, { bucket, waitMs: 3_600_000 });
      const error = await mustEnd(command, waiting);
      expect(error.remote.reason).toBe('lockfile_not_regular');
    }

    expect(lstatSync(lockfileOf(bucket)).mode).toBe(kind);
    expect(readdirSync(bucket)).toEqual(before);
    if (before.includes('.lock-target')) {
      expect(readFileSync(`${lockfileOf(bucket)}-target`, 'utf8')).toBe('2147483647\n');
    }
    for (const server of servers.splice(0)) server.close();
  },
);
