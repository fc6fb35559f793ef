// The systems that the package ships a binary for, and how each is compiled: from the one list of sources and flags that
// binding.gyp reads too. All is data, so that it can be digested without a compiler.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { root } from '../node-gyp.mjs';

const require = createRequire(import.meta.url);
const { variables } = JSON.parse(readFileSync(path.join(root, 'native', 'sources.gypi'), 'utf8'));

/** The compiler of all of them; ziglang on PyPI. */
export const ZIG_VERSION = '0.14.1';

/** Packages with the headers of Node-API. */
export const HEADER_PACKAGES = ['node-addon-api', 'node-api-headers'];

/** What a recipe says instead of a folder or file of the machine that it is carried out on. */
export const PLACES = {
  nodeAddonApi: '<node-addon-api>',
  nodeApiHeaders: '<node-api-headers>',
  root: '<root>',
  library: '<import library of node.exe>',
};

function linux(arch, cpu, libc) {
  const abi = libc === 'glibc' ? `gnu.${variables.glibc_minimum}` : 'musl';
  return {
    file: `prebuilds/linux-${arch}/bucketlock.${libc}.node`,
    zigTarget: `${cpu}-linux-${abi}`,
    sources: [...variables.sources_posix, ...variables.sources_linux],
    defines: variables.release_defines,
    link: [...variables.ldflags_linux, '-Wl,--version-script=.ci/prebuild/exports.map'],
  };
}

function darwin(arch, cpu) {
  return {
    file: `prebuilds/darwin-${arch}/bucketlock.node`,
    zigTarget: `${cpu}-macos.${variables.macos_deployment_target}`,
    sources: [...variables.sources_posix, ...variables.sources_darwin],
    defines: variables.release_defines,
    link: variables.ldflags_prebuild_darwin,
  };
}

function win32(arch, cpu, machine) {
  return {
    file: `prebuilds/win32-${arch}/bucketlock.node`,
    zigTarget: `${cpu}-windows-gnu`,
    sources: variables.sources_win32,
    defines: variables.defines_win32,
    link: [PLACES.library, ...variables.libraries_win32],
    // For a library that loads late: see native/win32/delay_load_hook.cc.
    importLibraryFor: machine,
    moreForTheLinker: ['-DELAYLOAD:node.exe'],
  };
}

const described = {
  'darwin-arm64': darwin('arm64', 'aarch64'),
  'darwin-x64': darwin('x64', 'x86_64'),
  'linux-arm64-glibc': linux('arm64', 'aarch64', 'glibc'),
  'linux-arm64-musl': linux('arm64', 'aarch64', 'musl'),
  'linux-x64-glibc': linux('x64', 'x86_64', 'glibc'),
  'linux-x64-musl': linux('x64', 'x86_64', 'musl'),
  'win32-arm64': win32('arm64', 'aarch64', 'arm64'),
  'win32-x64': win32('x64', 'x86_64', 'i386:x86-64'),
};

/** By name: where the binary is shipped, and the command that makes it but for `-o`. */
export const targets = Object.fromEntries(
  Object.entries(described).map(([name, target]) => [
    name,
    { ...target, command: ['c++', ...compilerFlags(target), ...target.link, ...sourcesOf(target)] },
  ]),
);

function sourcesOf(target) {
  return [...variables.sources_common, ...target.sources];
}

function compilerFlags({ zigTarget, defines }) {
  return [
    ...['-target', zigTarget, ...variables.cflags_cc, ...variables.cflags_prebuild],
    ...[...variables.addon_defines, ...defines].map((define) => `-D${define}`),
    ...['-Inative', '-isystem', PLACES.nodeAddonApi, '-isystem', PLACES.nodeApiHeaders],
    // No word of the machine that compiles.
    ...[`-ffile-prefix-map=${PLACES.root}=.`, '-shared', '-s'],
  ];
}

/** All that a binary depends on besides the native sources, in words that are the same everywhere. */
export function recipeOf(name) {
  const headers = HEADER_PACKAGES.map((each) => [each, require(`${each}/package.json`).version]);
  return {
    compiler: `ziglang ${ZIG_VERSION}`,
    headers: Object.fromEntries(headers),
    ...targets[name],
  };
}
