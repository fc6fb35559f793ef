import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { Libc } from './libc.js';

/** What a binary is built for; `libc` on Linux alone. */
export interface AddonTarget {
  readonly platform: string;
  readonly arch: string;
  readonly libc?: Libc | undefined;
}

/**
 * The folders that may be this module's own, the likeliest first. A bundler that writes CommonJS
 * leaves `import.meta` empty, or fills in where the source lay when it was bundled.
 */
export function ownFolders(): string[] {
  const { url } = import.meta as { url?: string };
  const folders = [
    url?.startsWith('file:') === true ? dirname(fileURLToPath(url)) : undefined,
    typeof __dirname === 'string' ? __dirname : undefined,
  ];
  return [...new Set(folders.filter((folder) => folder !== undefined))];
}

/** A build of one's own, in a clone. */
export function ownBuilds(folders: readonly string[]): string[] {
  return folders.map((folder) => join(dirname(folder), 'build', 'Release', 'bucketlock.node'));
}

/**
 * Where the shipped binary for `target` may lie, the likeliest first: one folder above `dist/`,
 * or beside a bundle. None where the C library is unknown: the wrong one may crash.
 */
export function shippedFiles(folders: readonly string[], target: AddonTarget): string[] {
  const { platform, arch, libc } = target;
  if (platform === 'linux' && libc === undefined) return [];
  const name = ['bucketlock', platform === 'linux' ? libc : undefined, 'node'];
  const file = join(`${platform}-${arch}`, name.filter((part) => part !== undefined).join('.'));
  return prebuildsFolders(folders).map((prebuilds) => join(prebuilds, file));
}

/** The targets that binaries lie there for, such as `linux-x64 (glibc, musl)`. */
export function shippedTargets(folders: readonly string[]): string[] {
  const there = prebuildsFolders(folders).find((prebuilds) => existsSync(prebuilds));
  if (there === undefined) return [];
  return readdirSync(there, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => {
      const libcs = readdirSync(join(there, name)).flatMap(
        (file) => /^bucketlock\.(glibc|musl)\.node$/.exec(file)?.[1] ?? [],
      );
      return libcs.length === 0 ? name : `${name} (${libcs.join(', ')})`;
    });
}

function prebuildsFolders(folders: readonly string[]): string[] {
  return folders
    .flatMap((folder) => [dirname(folder), folder])
    .flatMap(outsideOfArchive)
    .map((folder) => join(folder, 'prebuilds'));
}

/** Electron keeps files that have to be real ones in a folder beside its archive. */
function outsideOfArchive(folder: string): string[] {
  const unpacked = folder
    .split(sep)
    .map((segment) => (segment.endsWith('.asar') ? `${segment}.unpacked` : segment))
    .join(sep);
  return unpacked === folder ? [folder] : [unpacked, folder];
}
