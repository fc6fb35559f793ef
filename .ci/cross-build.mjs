// Compiles the addon for other systems than this one, from the same lists as binding.gyp, into
// build/cross/<target>/bucketlock.node. Only what has changed is compiled.
//
//   node .ci/cross-build.mjs [<target>…]      without an argument: all of them
//
// The compilers are pinned: ziglang 0.14.1 from PyPI, and the MinGW-w64 GCC 12 of Debian 12.
import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { root } from './node-gyp.mjs';
import { sha256 } from './sources-digest.mjs';

const execute = promisify(execFile);
const require = createRequire(import.meta.url);
const { variables } = JSON.parse(readFileSync(path.join(root, 'native', 'sources.gypi'), 'utf8'));

const mingw = {
  compiler: ['x86_64-w64-mingw32-g++-posix'],
  version: ['x86_64-w64-mingw32-g++-posix', '-dumpversion'],
  pinned: /^12-/,
};
const zig = {
  compiler: ['python3', '-m', 'ziglang', 'c++'],
  version: ['python3', '-m', 'ziglang', 'version'],
  pinned: /^0\.14\.1$/,
};

const macos = (arch) => ({
  toolchain: zig,
  flags: ['-target', `${arch}-macos.${variables.macos_deployment_target}`],
  sources: [...variables.sources_posix, ...variables.sources_darwin],
  defines: [],
  link: (target, objects) =>
    compile(target, [
      ...['-shared', '-undefined', 'dynamic_lookup', '-s', '-o', outputOf(target), ...objects],
    ]),
});
const windows = {
  sources: variables.sources_win32,
  defines: variables.defines_win32,
};

const targets = {
  'darwin-x64': macos('x86_64'),
  'darwin-arm64': macos('aarch64'),
  'win32-x64': { ...windows, toolchain: mingw, flags: [], link: linkWithMingw },
  'win32-arm64': {
    ...windows,
    toolchain: zig,
    flags: ['-target', 'aarch64-windows-gnu'],
    link: linkWithZigForWindows,
  },
};

function folderOf(target) {
  return path.join(root, 'build', 'cross', target);
}

function outputOf(target) {
  return path.join(folderOf(target), 'bucketlock.node');
}

async function run([command, ...args], env = process.env) {
  try {
    return await execute(command, args, { cwd: root, env, maxBuffer: 1 << 26 });
  } catch ({ message, stdout, stderr }) {
    // The command has said what is wrong; more would only push that out of sight.
    console.error(`${command} failed:\n${stdout ?? ''}${stderr ?? message}`);
    process.exit(1);
  }
}

function compile(target, args, env) {
  const { toolchain, flags } = targets[target];
  return run([...toolchain.compiler, ...flags, ...args], env);
}

async function checkVersion({ version, pinned }) {
  const { stdout } = await run(version);
  const found = stdout.trim();
  if (!pinned.test(found)) throw new Error(`${version.join(' ')} says ${found}, wanted ${pinned}`);
  return found;
}

function compilerFlags(target) {
  const system = [
    path.dirname(require.resolve('node-addon-api/package.json')),
    require('node-api-headers').include_dir,
  ];
  return [
    ...variables.cflags_cc,
    ...['-O2', '-DNDEBUG', '-DBUILDING_NODE_EXTENSION', '-Inative'],
    ...[...variables.addon_defines, ...targets[target].defines].map((define) => `-D${define}`),
    ...system.flatMap((folder) => ['-isystem', folder]),
  ];
}

/** What every object depends on besides its own source: flags, compiler and headers. */
function commonDigest(compilerVersion, flags) {
  const versions = ['node-addon-api', 'node-api-headers'].map(
    (name) => require(`${name}/package.json`).version,
  );
  const headers = readdirSync(path.join(root, 'native'), { recursive: true })
    .filter((file) => file.endsWith('.h'))
    .sort()
    .map((file) => sha256(readFileSync(path.join(root, 'native', file))));
  return sha256([compilerVersion, ...flags, ...versions, ...headers].join('\n'));
}

/** Answers the object files, whose names tell what they were made from. */
async function compileAll(target, compilerVersion) {
  const flags = compilerFlags(target);
  const common = commonDigest(compilerVersion, flags);
  const jobs = [...variables.sources_common, ...targets[target].sources].map((source) => {
    const digest = sha256(common + sha256(readFileSync(path.join(root, source))));
    const name = `${source.replaceAll('/', '_')}.${digest.slice(0, 16)}.o`;
    return { source, object: path.join(folderOf(target), name) };
  });
  const objects = jobs.map(({ object }) => object);
  for (const file of readdirSync(folderOf(target)).filter((name) => name.endsWith('.o'))) {
    const object = path.join(folderOf(target), file);
    if (!objects.includes(object)) rmSync(object);
  }
  const missing = jobs.filter(({ object }) => !existsSync(object));
  const work = async () => {
    for (let job = missing.pop(); job !== undefined; job = missing.pop()) {
      // Under another name first: an interrupted compiler must not leave half an object.
      await compile(target, [...flags, '-c', job.source, '-o', `${job.object}.new`]);
      renameSync(`${job.object}.new`, job.object);
    }
  };
  await Promise.all(Array.from({ length: os.availableParallelism() }, work));
  return objects;
}

/** What an import library is made from: all functions of Node-API, as the executable's own. */
function writeDefinition(target) {
  const folder = path.join(path.dirname(require('node-api-headers').include_dir), 'def');
  const names = readdirSync(folder)
    .filter((file) => file.endsWith('.def'))
    .flatMap((file) => readFileSync(path.join(folder, file), 'utf8').split(/\r?\n/))
    .filter((line) => line !== '' && !/^(NAME|EXPORTS)\b/i.test(line));
  const file = path.join(folderOf(target), 'node.def');
  writeFileSync(file, ['NAME node.exe', 'EXPORTS', ...new Set(names), ''].join('\n'));
  return file;
}

/** By a library that loads late, for the executable may have any name: see delay_load_hook.cc. */
async function linkWithMingw(target, objects) {
  const library = path.join(folderOf(target), 'libnode.a');
  await run(['x86_64-w64-mingw32-dlltool', '-d', writeDefinition(target), '-y', library]);
  await compile(target, [
    ...['-shared', '-static', '-s', '-fstack-protector-strong', '-Wl,--gc-sections'],
    ...['-o', outputOf(target), ...objects, library, ...variables.libraries_win32],
  ]);
}

/**
 * The same with LLVM's linker. The compiler driver has no word for loading late, so its own command
 * to the linker is repeated with that one word more.
 */
async function linkWithZigForWindows(target, objects) {
  const library = path.join(folderOf(target), 'libnode.a');
  const zigCommand = ['python3', '-m', 'ziglang'];
  const definition = writeDefinition(target);
  await run([...zigCommand, 'dlltool', '-d', definition, '-l', library, '-m', 'arm64']);
  rmSync(outputOf(target), { force: true });
  const { stdout, stderr } = await compile(
    target,
    ['-shared', '-s', '-o', outputOf(target), ...objects, library, ...variables.libraries_win32],
    // Its own cache, emptied: a link that it takes from there is not told.
    { ...process.env, ZIG_VERBOSE_LINK: '1', ZIG_LOCAL_CACHE_DIR: freshCache(target) },
  );
  const told = `${stdout}\n${stderr}`.split('\n').find((line) => line.startsWith('lld-link '));
  if (told === undefined) throw new Error(`zig did not tell how it links:\n${stdout}${stderr}`);
  await run([...zigCommand, ...told.trim().split(' '), '-DELAYLOAD:node.exe']);
}

function freshCache(target) {
  const folder = path.join(folderOf(target), 'zig-cache');
  rmSync(folder, { recursive: true, force: true });
  return folder;
}

/** Answers the addon's path. */
async function build(target) {
  const version = await checkVersion(targets[target].toolchain);
  mkdirSync(folderOf(target), { recursive: true });
  const objects = await compileAll(target, version);
  const script = sha256(readFileSync(path.join(root, '.ci', 'cross-build.mjs')));
  const linkedFrom = [script, ...objects, ...variables.libraries_win32].join('\n');
  const stamp = path.join(folderOf(target), 'linked-from');
  const output = outputOf(target);
  const isCurrent = existsSync(output) && existsSync(stamp);
  if (isCurrent && readFileSync(stamp, 'utf8') === linkedFrom) return output;
  rmSync(stamp, { force: true });
  await targets[target].link(target, objects);
  writeFileSync(stamp, linkedFrom);
  return output;
}

// Whatever else the machine does goes first.
os.setPriority(10);
const wanted = process.argv.slice(2);
for (const target of wanted.length === 0 ? Object.keys(targets) : wanted) {
  if (!Object.hasOwn(targets, target)) throw new Error(`no such target: ${target}`);
  console.log(await build(target));
}
