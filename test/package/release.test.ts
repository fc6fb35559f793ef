import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { packageRoot } from '../helpers/program.js';

const workflow = readFileSync(path.join(packageRoot, '.github/workflows/release.yml'), 'utf8');

it('uses no action whose code can change under its name', () => {
  const used = [...workflow.matchAll(/uses: (.*)$/gm)].map(([, action]) => action);
  expect(used.length).toBeGreaterThan(0);
  for (const action of used) expect(action).toMatch(/^[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});

it('may write nothing, and has an identity in the job that publishes alone', () => {
  expect(workflow).toMatch(/^permissions: \{\}$/m);
  expect(workflow.match(/^ +[\w-]+: write$/gm)).toEqual(['      id-token: write']);
  expect(workflow.indexOf('id-token: write')).toBeGreaterThan(workflow.indexOf('\n  publish:\n'));
  expect(workflow).not.toMatch(/secrets\./);
});

it('publishes with provenance', () => {
  const { publishConfig } = JSON.parse(
    readFileSync(path.join(packageRoot, 'package.json'), 'utf8'),
  ) as { publishConfig: object };
  expect(publishConfig).toEqual({ access: 'public', provenance: true });
});
