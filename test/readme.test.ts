import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import * as bucketlock from '../lib/index.js';
import { DEFAULT_BUCKET_LOCK_SETTINGS } from '../lib/options.js';
import { packageRoot, program } from './helpers/program.js';
import { useTempDir } from './helpers/temp-dir.js';

const run = promisify(execFile);

function read(file: string): string {
  return readFileSync(path.join(packageRoot, file), 'utf8');
}

const readme = read('README.md');
const examples = [...readme.matchAll(/^```(?:js|mjs|javascript|ts|typescript)\n(.*?)^```$/gms)].map(
  ([, code = ''], at) => ({ name: `example ${at + 1}`, code }),
);

describe('README', () => {
  const temp = useTempDir();

  it('has examples', () => {
    expect(examples.length).toBeGreaterThan(0);
  });

  it.each(examples)('has a complete program in $name', async ({ code }) => {
    const folder = temp.directory('project');
    const file = path.join(folder, 'example.mjs');
    const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };
    writeFileSync(file, ts.transpileModule(code, { compilerOptions }).outputText);
    mkdirSync(path.join(folder, 'node_modules'));
    symlinkSync(packageRoot, path.join(folder, 'node_modules', 'bucketlock'), 'junction');

    const { stderr } = await run(program.node, [file], { cwd: folder });
    expect(stderr).toBe('');
    expect(existsSync(path.join(folder, 'orders', '.lock'))).toBe(false);
  });

  it('names every error with its code', () => {
    for (const [name, code] of Object.entries(bucketlock.LOCK_ERROR_CODES)) {
      expect(readme).toMatch(new RegExp(`^\\| \`${name}\`[^|]*\\| \`${code}\``, 'm'));
    }
  });

  it('names every option, and its default', () => {
    const defaults = new Map(
      [...readme.matchAll(/^\| `(\w+)` +\| (?:`([^`]*)`)? +\|/gm)].map(([, name, text]) => [
        name,
        text,
      ]),
    );
    const expected = Object.entries(DEFAULT_BUCKET_LOCK_SETTINGS).map(([name, value]) => [
      name,
      value === undefined ? undefined : inOptionsNotation(name, value),
    ]);
    for (const [name, text] of expected) {
      expect(defaults.has(name), name).toBe(true);
      expect(defaults.get(name), name).toBe(text);
    }
  });

  it('names no npm script that is not there', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    for (const [, name = ''] of readme.matchAll(/npm run ([\w:]+)/g)) {
      expect(scripts).toHaveProperty([name]);
    }
  });
});

function inOptionsNotation(name: string, value: unknown): string {
  if (name === 'mode') return `0o${Number(value).toString(8)}`;
  if (typeof value === 'string') return `'${value}'`;
  // 10_000
  return String(value).replace(/(?<=\d)(?=(\d{3})+$)/g, '_');
}

describe('docs/lockfile.md', () => {
  const temp = useTempDir();

  it('shows a record that is one', async () => {
    const [, record = ''] = /^```text\n(.*?)^```$/ms.exec(read('docs/lockfile.md')) ?? [];
    const bucket = temp.directory();
    writeFileSync(path.join(bucket, '.lock'), record);

    const report = await bucketlock.inspectLock(bucket, { trustKernelLocks: true });
    expect(report).toMatchObject({
      state: 'stale',
      evidence: 'guard-free',
      pid: 4711,
      host: 'web1',
      label: 'nightly import',
      token: 'acb3368b8071acee484ef23bf92cb616',
    });
  });
});

describe('the documents', () => {
  const documents = [
    'README.md',
    'CHANGELOG.md',
    ...readdirSync(path.join(packageRoot, 'docs'))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `docs/${name}`),
  ];

  it.each(documents)('link to what is there: %s', (document) => {
    for (const [, link = ''] of read(document).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? document : path.posix.join(path.posix.dirname(document), file);
      expect(existsSync(path.join(packageRoot, target)), link).toBe(true);
      if (anchor !== undefined) expect(anchorsOf(read(target)), link).toContain(anchor);
    }
  });
});

/** The anchors of headings, as repository hosts make them. */
function anchorsOf(markdown: string): string[] {
  return [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-'),
  );
}
