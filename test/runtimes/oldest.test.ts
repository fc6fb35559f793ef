import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { CLAIMS, claimedIn } from '../helpers/exercise.js';
import { packageRoot } from '../helpers/program.js';
import { useRuntimeProject } from '../helpers/runtime-project.js';
import { oldest, requireRuntime } from '../helpers/runtimes.js';
import { useTempDir } from '../helpers/temp-dir.js';

const temp = useTempDir();
const project = useRuntimeProject(temp, ['exercise.mjs']);

test('the package asks for no older Node.js than these', () => {
  const { engines } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
    engines: { node: string };
  };
  expect(engines.node).toBe('^20.19 || >=22.12');
  expect(oldest.map(({ name }) => name)).toEqual(['Node.js 20.19.0', 'Node.js 22.12.0']);
});

test.for(oldest)('$name does all that is claimed', async (runtime, context) => {
  requireRuntime(context, runtime);
  const ended = await project.run(runtime, 'exercise.mjs', temp.directory('buckets'));
  expect(claimedIn(ended.output)).toEqual(new Map(CLAIMS.map((claim) => [claim, 'true'])));
  expect(ended.code).toBe(0);
});
