import { execFileSync } from 'node:child_process';

import fc from 'fast-check';
import { expect, test } from 'vitest';

import { advisoryLockId, keyDigest, sidecarLockPath } from '../lib/keys.js';
import { lacing, requireTool } from './helpers/tools.js';

const KEYS = 2_000;

/** Reads keys as JSON, and answers what `lacing` makes of them. The module needs no other. */
const PYTHON = `
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("locking", sys.argv[1])
locking = importlib.util.module_from_spec(spec)
spec.loader.exec_module(locking)
print(json.dumps([
    [locking.key_digest(*parts).hex(), str(locking.advisory_lock_id(*parts)),
     locking.sidecar_lock_path("/srv/notes.db", "".join(parts))]
    for parts in json.load(sys.stdin)
]))`;

test('lacing makes the same of every key', (context) => {
  requireTool(context, 'lacing');
  const key = fc.array(fc.string({ unit: 'binary', maxLength: 200 }), { maxLength: 5 });
  const keys = fc.sample(key, KEYS);
  const input = JSON.stringify(keys);
  const output = execFileSync('python3', ['-c', PYTHON, lacing], { input, encoding: 'utf8' });
  const ours = keys.map((parts) => [
    Buffer.from(keyDigest(...parts)).toString('hex'),
    String(advisoryLockId(...parts)),
    sidecarLockPath('/srv/notes.db', parts.join('')),
  ]);
  expect(ours).toEqual(JSON.parse(output));
});
