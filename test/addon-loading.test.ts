import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';

import { expect, test } from 'vitest';

import { packageRoot, program } from './helpers/program.js';
import { useTempDir } from './helpers/temp-dir.js';
import { requireTool } from './helpers/tools.js';

const temp = useTempDir();
const builtAddon = join(packageRoot, 'build', 'Release', 'bucketlock.node');
const { platform, arch } = process;
const libcTag = platform === 'linux' ? '.glibc' : '';
const ownBuild = join('build', 'Release', 'bucketlock.node');
const shippedName = `bucketlock${libcTag}.node`;
const shippedFile = join('prebuilds', `${platform}-${arch}`, shippedName);

/** A copy of the package whose binaries are `places` alone, each a whole addon. */
function packageWith(places: readonly string[], root = temp.directory('package')): string {
  const isClone = places.includes(ownBuild);
  for (const name of ['package.json', 'dist', ...(isClone ? ['binding.gyp'] : [])]) {
    cpSync(join(packageRoot, name), join(root, name), { recursive: true });
  }
  for (const place of places) putAddon(join(root, place));
  return root;
}

function putAddon(file: string): void {
  mkdirSync(dirname(file), { recursive: true });
  copyFileSync(builtAddon, file);
}

interface FirstUse {
  /** Relative to the package, the addons that are loaded after the first use of a lock. */
  readonly addons?: readonly string[];
  readonly error?: {
    readonly guarded: boolean;
    readonly code: string;
    readonly message: string;
    readonly path: string;
    readonly cause?: string;
  };
}

/** Imports the package in a process of its own, which succeeds whatever happens, and uses a lock. */
function firstUse(
  root: string,
  { setUp = '', command = [program.node], env = {} }: FirstUseOptions = {},
): FirstUse {
  const entry = join(root, relative(packageRoot, program.entry));
  const script = `
    const { inspectLockSync, isLockAddonError } = await import(${JSON.stringify(entry)});
    const addons = () => process.report.getReport().sharedObjects.filter((path) => path.endsWith('.node'));
    if (addons().length > 0) throw new Error('importing loads the addon');
    ${setUp}
    const answer = {};
    try {
      inspectLockSync('.');
      answer.addons = addons();
    } catch (error) {
      const { code, message, path, cause } = error;
      answer.error = { guarded: isLockAddonError(error), code, message, path, cause: cause?.code };
    }
    process.stdout.write(JSON.stringify(answer));`;
  const [node, ...args] = command;
  const output = execFileSync(node, [...args, '--input-type=module', '--eval', script], {
    encoding: 'utf8',
    env: { ...process.env, PREBUILDS_ONLY: '', ...env },
    cwd: temp.path,
  });
  const { addons, error } = JSON.parse(output) as FirstUse;
  return {
    ...(addons && { addons: addons.map((path) => relative(root, path)) }),
    ...(error && { error }),
  };
}

interface FirstUseOptions {
  readonly setUp?: string;
  readonly command?: readonly [string, ...string[]];
  readonly env?: NodeJS.ProcessEnv;
}

test('the shipped binary is loaded, and no sooner than a lock is used', () => {
  expect(firstUse(packageWith([shippedFile]))).toEqual({ addons: [shippedFile] });
});

test('a build of one’s own wins over the shipped binary, unless PREBUILDS_ONLY is set', () => {
  const root = packageWith([shippedFile, ownBuild]);
  expect(firstUse(root)).toEqual({ addons: [ownBuild] });
  expect(firstUse(root, { env: { PREBUILDS_ONLY: '1' } })).toEqual({ addons: [shippedFile] });
});

test('a build in an installed package, or above a bundle, is never loaded', () => {
  const root = packageWith([shippedFile]);
  putAddon(join(root, ownBuild));
  expect(firstUse(root)).toEqual({ addons: [shippedFile] });

  rmSync(join(root, 'prebuilds'), { recursive: true });
  expect(firstUse(root).error?.message).not.toContain(ownBuild);
});

test('what lies beside the module wins over what lies above it', () => {
  const beside = join('dist', shippedFile);
  expect(firstUse(packageWith([shippedFile, beside]))).toEqual({ addons: [beside] });
});

test('another addon’s build in the same place is left alone', () => {
  const root = packageWith([shippedFile, join('build', 'Release', 'another.node')]);
  expect(firstUse(root)).toEqual({ addons: [shippedFile] });
});

test('only the binary for the C library of the process is loaded', (context) => {
  context.skip(platform !== 'linux', 'C libraries differ on Linux only');
  const folder = join('prebuilds', `${platform}-${arch}`);
  const both = ['bucketlock.musl.node', shippedName].map((name) => join(folder, name));
  expect(firstUse(packageWith(both))).toEqual({ addons: [shippedFile] });

  const root = packageWith([join(folder, 'bucketlock.musl.node'), join(folder, 'bucketlock.node')]);
  const { error } = firstUse(root);
  expect(error?.message).toContain(`on linux ${arch} glibc, Node.js`);
  expect(error?.message).toContain(`There are binaries for linux-${arch} (musl). `);
});

test('the report tells the C library where the executable does not', (context) => {
  context.skip(platform !== 'linux', 'C libraries differ on Linux only');
  const root = packageWith([shippedFile]);
  // The executable is then the dynamic loader itself, which asks for none.
  const command = [loaderOf(program.node), program.node] as const;
  const setUp = `if (process.execPath.endsWith('node')) throw new Error('not so');`;
  expect(firstUse(root, { command, setUp })).toEqual({ addons: [shippedFile] });

  // As musl's Node.js reports.
  const asInMusl = `${setUp}
    const report = process.report.getReport();
    delete report.header.glibcVersionRuntime;
    process.report.getReport = () => report;`;
  const { error } = firstUse(root, { command, setUp: asInMusl });
  expect(error?.message).toContain(`on linux ${arch} musl, Node.js`);
});

test('where nothing tells the C library, no shipped binary is loaded', (context) => {
  context.skip(platform !== 'linux', 'C libraries differ on Linux only');
  const { error } = firstUse(packageWith([shippedFile]), {
    setUp: `
      process.execPath = '/nowhere';
      Object.defineProperty(process, 'report', { value: undefined });`,
  });
  expect(error?.message).toContain(`on linux ${arch} unknown libc, Node.js`);
});

test('a system without a binary is told what was tried, what there is, and what to do', () => {
  const places = ['aix-ppc64/bucketlock.node', 'linux-loong64/bucketlock.musl.node'];
  const root = packageWith(places.map((place) => join('prebuilds', ...place.split('/'))));
  const { error } = firstUse(root);
  expect(error).toMatchObject({ guarded: true, code: 'ERR_LOCK_ADDON', path: root });
  expect(error?.cause).toBeUndefined();
  const tried = [join('dist', shippedFile), shippedFile];
  expect(error?.message).toBe(
    `The native addon of bucketlock cannot be loaded on ${platform} ${arch}${libcTag.replace('.', ' ')}, ` +
      `Node.js ${process.versions.node}. ` +
      `Tried ${tried.map((place) => `'${join(root, place)}'`).join(', ')}: not there. ` +
      'There are binaries for aix-ppc64, linux-loong64 (musl). ' +
      'Install the package on this system; if it has none for it, compile the addon with ' +
      '"npm run build" in a clone of its repository',
  );
});

test.each(['.', ''])('a global __dirname is no place of this module: %j', (folder) => {
  const setUp = `globalThis.__dirname = ${JSON.stringify(folder || temp.path)};`;
  const root = packageWith([]);
  putAddon(join(temp.path, shippedFile));
  putAddon(join(temp.path, ownBuild));
  expect(firstUse(root, { setUp }).error?.message).toContain('not there');
  putAddon(join(root, shippedFile));
  expect(firstUse(root, { setUp })).toEqual({ addons: [shippedFile] });
});

test('a package without any binary is told to be installed again', () => {
  const root = packageWith([]);
  const { error } = firstUse(root);
  expect(error?.message).toContain(`'${join(root, shippedFile)}'`);
  expect(error?.message).toContain('not there. Install the package again, or lay its folder');
});

test('a binary that does not load keeps what loading it raised, and nothing else is tried', () => {
  const root = packageWith([shippedFile, ownBuild]);
  const broken = join(root, ownBuild);
  writeFileSync(broken, 'no library');
  const { error } = firstUse(root);
  expect(error).toMatchObject({ guarded: true, code: 'ERR_LOCK_ADDON', path: broken });
  expect(error?.cause).toBe('ERR_DLOPEN_FAILED');
  expect(error?.message).toContain(`Tried '${broken}': `);
  expect(error?.message).not.toContain('\n');
});

test('a binary whose end is missing is refused, for it would end the process', (context) => {
  context.skip(platform !== 'linux', 'only there is a file’s end needed to load it');
  const root = packageWith([shippedFile]);
  const file = join(root, shippedFile);
  const whole = readFileSync(file);
  for (const part of [0.1, 0.5, 0.99]) {
    writeFileSync(file, whole.subarray(0, Math.floor(whole.length * part)));
    const { error } = firstUse(root);
    expect(error).toMatchObject({ guarded: true, code: 'ERR_LOCK_ADDON', path: file });
    expect(error?.message).toContain('it is cut off: ');
  }
});

test('a place that cannot be looked at is told with the reason', () => {
  const root = packageWith([]);
  symlinkSync('prebuilds', join(root, 'prebuilds'));
  const { error } = firstUse(root);
  expect(error).toMatchObject({ guarded: true, code: 'ERR_LOCK_ADDON', cause: 'ELOOP' });
  expect(error?.message).toContain('ELOOP');
});

test('what is no file is not opened', (context) => {
  requireTool(context, 'mkfifo');
  const root = packageWith([]);
  mkdirSync(dirname(join(root, shippedFile)), { recursive: true });
  execFileSync('mkfifo', [join(root, shippedFile)]);
  expect(firstUse(root).error?.message).toContain('not there');
});

test('a runtime that was started without leave to load addons is told as that', () => {
  const root = packageWith([shippedFile]);
  const { error } = firstUse(root, { command: [program.node, '--no-addons'] });
  expect(error).toMatchObject({ guarded: true, cause: 'ERR_DLOPEN_DISABLED' });
  expect(error?.message).toContain('started without leave to load addons');
});

test('the unpacked copy beside an Electron archive is preferred to the archive', () => {
  const folder = temp.directory('application');
  const place = join('node_modules', 'bucketlock');
  const packed = packageWith([shippedFile], made(join(folder, 'app.asar', place)));
  const unpacked = made(join(folder, 'app.asar.unpacked', place));
  expect(firstUse(packed)).toEqual({ addons: [shippedFile] });

  mkdirSync(dirname(join(unpacked, 'prebuilds')), { recursive: true });
  renameSync(join(packed, 'prebuilds'), join(unpacked, 'prebuilds'));
  expect(firstUse(packed)).toEqual({ addons: [relative(packed, join(unpacked, shippedFile))] });

  rmSync(join(unpacked, 'prebuilds'), { recursive: true });
  for (const root of [packed, unpacked]) {
    expect(firstUse(packed).error?.message).toContain(`'${join(root, shippedFile)}'`);
  }
});

function made(directory: string): string {
  mkdirSync(directory, { recursive: true });
  return directory;
}

/** The dynamic loader that an executable asks for. */
function loaderOf(executable: string): string {
  const [loader = ''] = /\/[\w/.-]*ld-linux[\w.-]*/.exec(readFileSync(executable, 'latin1')) ?? [];
  return loader;
}
