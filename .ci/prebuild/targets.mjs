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
  source: '<all sources>',
};

function linux(arch, cpu, libc) {
  const abi = libc === 'glibc' ? `gnu.${variables.glibc_minimum}` : 'musl';
  return {
    file: `prebuilds/linux-${arch}/bucketlock.${libc}.node`,
    zigTarget: `${cpu}-linux-${abi}`,
    sources: [
      ...[...variables.sources_posix, ...variables.sources_linux],
      ...[...variables.sources_prebuild_posix, ...variables.sources_prebuild_linux],
    ],
    defines: variables.release_defines,
    flags: [
      ...[...variables.flags_prebuild_linux, ...variables.ldflags_linux],
      `-Wl,--version-script=native/prebuild/exports.map`,
    ],
  };
}

function darwin(arch, cpu) {
  return {
    file: `prebuilds/darwin-${arch}/bucketlock.node`,
    zigTarget: `${cpu}-macos.${variables.macos_deployment_target}`,
    sources: [
      ...[...variables.sources_posix, ...variables.sources_darwin],
      ...variables.sources_prebuild_posix,
    ],
    defines: variables.release_defines,
    flags: variables.flags_prebuild_darwin,
  };
}

function win32(arch, cpu, machine) {
  return {
    file: `prebuilds/win32-${arch}/bucketlock.node`,
    zigTarget: `${cpu}-windows-gnu`,
    sources: variables.sources_win32,
    defines: variables.defines_win32,
    flags: [...variables.flags_prebuild_win32, PLACES.library, ...variables.libraries_win32],
    // For a library that loads late: see native/win32/delay_load_hook.cc.
    importLibraryFor: machine,
    moreForTheLinker: variables.linker_flags_prebuild_win32,
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

/**
 * By name: the file that is shipped, the text of the one source that holds them all, and the command that makes the
 * binary of it but for `-o`.
 */
export const targets = Object.fromEntries(
  Object.entries(described).map(([name, target]) => [
    name,
    {
      file: target.file,
      source: sourceOf(target),
      command: commandOf(target),
      importLibraryFor: target.importLibraryFor,
      moreForTheLinker: target.moreForTheLinker,
    },
  ]),
);

/** All as one are smaller, and compiled in a fraction of the time. Zig takes -Oz for -Os, so it is said here. */
function sourceOf({ sources }) {
  return [
    '#pragma clang attribute push(__attribute__((minsize)), apply_to = function)',
    ...[...variables.sources_common, ...sources, ...variables.sources_prebuild].map(
      (file) => `#include "${file}"`,
    ),
    '#pragma clang attribute pop',
    '',
  ].join('\n');
}

function commandOf({ zigTarget, defines, flags }) {
  return [
    ...['c++', '-target', zigTarget, ...variables.cflags_cc, ...variables.cflags_prebuild],
    ...[...variables.addon_defines, ...defines].map((define) => `-D${define}`),
    ...['-I.', '-Inative', '-isystem', PLACES.nodeAddonApi, '-isystem', PLACES.nodeApiHeaders],
    // No word of the machine that compiles.
    ...[`-ffile-prefix-map=${PLACES.root}=.`, '-shared', '-s', PLACES.source, ...flags],
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
