import { existsSync, readdirSync } from 'node:fs';
import { dirname, isAbsolute, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { Libc } from './libc.js';

/** What a binary is built for; `libc` on Linux alone. */
export interface AddonTarget {
  readonly platform: string;
  readonly arch: string;
  readonly libc?: Libc | undefined;
}

/**
 * The folder of this module; undefined where nothing tells it. A bundler that writes CommonJS leaves
 * `import.meta` empty, or fills in where the source lay when it was bundled. `node --eval` gives every
 * module a `__dirname` of `.`, from which nothing must be loaded.
 */
export function ownFolder(): string | undefined {
  if (typeof __dirname === 'string' && isAbsolute(__dirname)) return __dirname;
  const { url } = import.meta as { url?: string };
  return url?.startsWith('file:') === true ? dirname(fileURLToPath(url)) : undefined;
}

/** A build of one's own, in a clone. */
export function ownBuild(folder: string): string {
  return join(dirname(folder), 'build', 'Release', 'bucketlock.node');
}

/**
 * Where the shipped binary for `target` may lie, the likeliest first: one folder above `dist/`,
 * or beside a bundle. None where the C library is unknown: the wrong one may crash.
 */
export function shippedFiles(folder: string, target: AddonTarget): string[] {
  const { platform, arch, libc } = target;
  if (platform === 'linux' && libc === undefined) return [];
  const name = ['bucketlock', platform === 'linux' ? libc : undefined, 'node'];
  const file = join(`${platform}-${arch}`, name.filter((part) => part !== undefined).join('.'));
  return prebuildsFolders(folder).map((prebuilds) => join(prebuilds, file));
}

/** The targets that binaries lie there for, such as `linux-x64 (glibc, musl)`. */
export function shippedTargets(folder: string): string[] {
  const there = prebuildsFolders(folder).find((prebuilds) => existsSync(prebuilds));
  if (there === undefined) return [];
  return readdirSync(there, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => {
      const libcs = readdirSync(join(there, name))
        .flatMap((file) => /^bucketlock\.(glibc|musl)\.node$/.exec(file)?.[1] ?? [])
        .sort();
      return libcs.length === 0 ? name : `${name} (${libcs.join(', ')})`;
    })
    .sort();
}

function prebuildsFolders(folder: string): string[] {
  return [dirname(folder), folder]
    .flatMap(outsideOfArchive)
    .map((place) => join(place, 'prebuilds'));
}

/** Electron keeps files that have to be real ones in a folder beside its archive. */
function outsideOfArchive(folder: string): string[] {
  const unpacked = folder
    .split(sep)
    .map((segment) => (segment.endsWith('.asar') ? `${segment}.unpacked` : segment))
    .join(sep);
  return unpacked === folder ? [folder] : [unpacked, folder];
}
