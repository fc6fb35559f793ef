import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { Libc } from './libc.js';

/** What a binary is built for; `libc` on Linux alone. */
export interface AddonTarget {
  readonly platform: string;
  readonly arch: string;
  readonly libc?: Libc | undefined;
}

/** What keeps a place from being looked at, beside its absence; the first is told. */
export type Obstacles = Error[];

/**
 * The folder of this module; undefined where nothing tells it. Of what bundlers write in its place
 * only `import.meta.dirname` is left to the one who runs it: `import.meta.url` and, in an ES module,
 * `__dirname` may be those of the machine that bundled. A `__dirname` that is a global, as of
 * `node --eval` and of polyfills, tells of no module.
 */
export function ownFolder(): string | undefined {
  const folder = (import.meta as { dirname?: string }).dirname;
  if (folder !== undefined) return folder;
  const { __dirname: shared } = globalThis as { __dirname?: unknown };
  if (typeof __dirname === 'string' && __dirname !== shared && isAbsolute(__dirname)) {
    return __dirname;
  }
  const { url } = import.meta as { url?: string };
  return url?.startsWith('file:') === true ? dirname(fileURLToPath(url)) : undefined;
}

/**
 * A build of one's own, in a clone of the repository and nowhere else: what lies in the folder above
 * a bundle, or comes to lie in an installed package, is not to be run.
 */
export function ownBuilds(folder: string): string[] {
  const root = dirname(folder);
  if (!['dist', 'lib'].includes(basename(folder)) || !isClone(root)) return [];
  return [join(root, 'build', 'Release', 'bucketlock.node')];
}

function isClone(root: string): boolean {
  try {
    const text = readFileSync(join(root, 'package.json'), 'utf8');
    const { name } = JSON.parse(text) as { name?: unknown };
    return name === 'bucketlock' && existsSync(join(root, 'binding.gyp'));
  } catch {
    // Missing, unreadable, forbidden or no JSON: somebody else's, or nobody's.
    return false;
  }
}

/**
 * Where the shipped binary for `target` may lie, in the order in which to look: beside a bundle, or
 * one folder above `dist/`. None where the C library is unknown: the wrong one may crash.
 */
export function shippedFiles(folder: string, target: AddonTarget): string[] {
  const { platform, arch, libc } = target;
  if (platform === 'linux' && libc === undefined) return [];
  const name = ['bucketlock', platform === 'linux' ? libc : undefined, 'node'];
  const file = join(`${platform}-${arch}`, name.filter((part) => part !== undefined).join('.'));
  return prebuildsFolders(folder).map((prebuilds) => join(prebuilds, file));
}

/** The first that is a file. */
export function firstFile(files: readonly string[], obstacles: Obstacles): string | undefined {
  return files.find((file) => {
    try {
      return statSync(file).isFile();
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT' && code !== 'ENOTDIR') obstacles.push(error as Error);
      return false;
    }
  });
}

/** The targets that binaries lie there for, such as `linux-x64 (glibc, musl)`. */
export function shippedTargets(folder: string): string[] {
  for (const prebuilds of prebuildsFolders(folder)) {
    const targets = namesIn(prebuilds).flatMap((name) => {
      const files = namesIn(join(prebuilds, name)).filter((file) => file.endsWith('.node'));
      const libcs = files.flatMap(
        (file) => /^bucketlock\.(glibc|musl)\.node$/.exec(file)?.[1] ?? [],
      );
      if (files.length === 0) return [];
      return libcs.length === 0 ? name : `${name} (${libcs.sort().join(', ')})`;
    });
    if (targets.length > 0) return targets.sort();
  }
  return [];
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // What cannot be listed is left out of a list that is there to help.
    return [];
  }
}

function prebuildsFolders(folder: string): string[] {
  return [folder, dirname(folder)]
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
