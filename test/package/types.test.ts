import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { publint } from 'publint';
import ts from 'typescript';
import { beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../helpers/program.js';
import { usePublishedPackage } from '../helpers/published-package.js';
import { useTempDir } from '../helpers/temp-dir.js';

const run = promisify(execFile);

const temp = useTempDir();
const published = usePublishedPackage(temp);

let project = '';

beforeAll(async () => {
  project = await published.installed();
});

// As a program would use it, disposal included: TypeScript compiles that for older targets.
const source = `
  import { BucketLock, isBucketBusyError, namedLock } from 'bucketlock';
  import type { HeldLock, LockReport } from 'bucketlock';

  async function reportToSecond(bucket: string): Promise<LockReport | undefined> {
    await using held: HeldLock = await new BucketLock(bucket, { waitMs: 0 }).acquire();
    try {
      using second = new BucketLock(bucket).acquireSync({ waitMs: 0 });
      throw new Error(second.path);
    } catch (error) {
      if (!isBucketBusyError(error)) throw error;
      return held.released ? undefined : error.report;
    }
  }

  async function main() {
    const report = await reportToSecond(process.argv[2] ?? '');
    await namedLock('orders').with(() => console.log(JSON.stringify(report?.state)));
  }
  void main();
`;

const nodeTypes: ts.CompilerOptions = {
  types: ['node'],
  typeRoots: [path.join(packageRoot, 'node_modules', '@types')],
};
// The globals that the program itself takes from Node.js.
const noTypes: ts.CompilerOptions = {
  types: ['globals'],
  lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'],
};

const nodenext: ts.CompilerOptions = {
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
};
const bundler: ts.CompilerOptions = {
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
};

/** Compiles a program of this extension, and answers what the compiler says and the file it made. */
function compile(extension: 'mts' | 'cts', options: ts.CompilerOptions): [string[], string] {
  const folder = path.join(project, 'src');
  const globals = path.join(project, 'types', 'globals');
  for (const directory of [folder, globals]) mkdirSync(directory, { recursive: true });
  writeFileSync(
    path.join(globals, 'index.d.ts'),
    'declare const process: { readonly argv: readonly string[] };\n',
  );
  const file = path.join(folder, `program.${extension}`);
  writeFileSync(file, source);
  const program = ts.createProgram([file], {
    target: ts.ScriptTarget.ES2022,
    strict: true,
    skipLibCheck: false,
    typeRoots: [path.join(project, 'types')],
    outDir: path.join(project, 'out'),
    ...options,
  });
  const said = [...ts.getPreEmitDiagnostics(program), ...program.emit().diagnostics].map(
    ({ file: where, messageText }) =>
      `${where?.fileName ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`,
  );
  return [said, path.join(project, 'out', `program.${extension.replace('t', 'j')}`)];
}

describe('TypeScript for es2022, with the declarations checked', () => {
  it.each([
    ['nodenext, an ES module, @types/node', 'mts', { ...nodenext, ...nodeTypes }],
    ['nodenext, an ES module, the lib dom instead', 'mts', { ...nodenext, ...noTypes }],
    ['nodenext, CommonJS, @types/node', 'cts', { ...nodenext, ...nodeTypes }],
    ['bundler, @types/node', 'mts', { ...bundler, ...nodeTypes }],
    ['bundler, the lib dom instead', 'mts', { ...bundler, ...noTypes }],
  ] as const)('compiles a program that runs: %s', async (_name, extension, options) => {
    const [said, file] = compile(extension, options);
    expect(said).toEqual([]);
    const { stdout } = await run(process.execPath, [file, temp.directory()], { cwd: project });
    expect(stdout).toBe('"held"\n');
  });

  it('would be noticed if it failed: without dom and @types/node it does', () => {
    const [said] = compile('mts', { ...nodenext, ...noTypes, lib: ['lib.es2022.d.ts'] });
    expect(said).toContainEqual(expect.stringMatching(/lock\.d\.ts: Cannot find name 'AbortSig/));
  });
});

it('passes publint', async () => {
  const pkgDir = path.join(project, 'node_modules', 'bucketlock');
  const { messages } = await publint({ pkgDir, strict: true, pack: false });
  expect(messages).toEqual([]);
});

it('passes attw as a package of ES modules', async () => {
  const tarball = path.join(temp.directory('tarball'), 'package.tgz');
  writeFileSync(tarball, published.registry.published('bucketlock').tarball);
  const attw = path.join(
    packageRoot,
    'node_modules',
    '@arethetypeswrong',
    'cli',
    'dist',
    'index.js',
  );
  const args = ['--profile', 'esm-only', '--no-definitely-typed', '--format', 'json', tarball];
  const { stdout } = await run(process.execPath, [attw, ...args], { maxBuffer: 1 << 24 });
  const { analysis } = JSON.parse(stdout) as {
    analysis: { types: { kind: string }; problems: unknown[]; entrypoints: object };
  };
  expect(analysis.types.kind).toBe('included');
  expect(Object.keys(analysis.entrypoints)).toContain('.');
});
