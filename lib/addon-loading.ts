import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, resolve } from 'node:path';

import { ownBuilds, ownFolders, shippedFiles, shippedTargets } from './addon-file.js';
import type { AddonTarget } from './addon-file.js';
import { LockAddonError } from './errors.js';
import { currentLibc } from './libc.js';
import type { NativeAddon } from './native.js';

/**
 * Loads the first binary that is there: a build of one's own in a clone, else the shipped one for
 * this system. With `PREBUILDS_ONLY` in the environment, the shipped one.
 */
export function loadAddonFile(): NativeAddon {
  const folders = ownFolders();
  const builds = ownBuilds(folders);
  const build = builds.find(existsSync);
  if (build !== undefined && !process.env['PREBUILDS_ONLY']) return load(build);

  const target = currentTarget();
  const files = shippedFiles(folders, target);
  const file = files.find(existsSync);
  if (file !== undefined) return load(file);

  const [folder] = folders;
  throw new LockAddonError(explainNoFile(folders, target, [...builds, ...files]), {
    path: folder === undefined ? undefined : dirname(folder),
  });
}

function load(file: string): NativeAddon {
  try {
    const addon = createRequire(resolve(file))(file) as Partial<NativeAddon>;
    // Not so in a thread that is being terminated meanwhile.
    if (!isWhole(addon)) throw new Error('it was interrupted while it told of its calls');
    return addon;
  } catch (cause) {
    throw new LockAddonError(explainFailedLoad(file, cause), { path: file, cause });
  }
}

function isWhole(addon: Partial<NativeAddon>): addon is NativeAddon {
  return addon.isWhole === true;
}

function currentTarget(): AddonTarget {
  const { platform, arch } = process;
  return platform === 'linux' ? { platform, arch, libc: currentLibc() } : { platform, arch };
}

function explainNoFile(
  folders: readonly string[],
  target: AddonTarget,
  tried: readonly string[],
): string {
  const shipped = shippedTargets(folders);
  const advice =
    shipped.length === 0
      ? 'Install the package again, or lay its folder "prebuilds" beside the bundle that it is in'
      : `There are binaries for ${shipped.join(', ')}. Install the package on this system; if it has ` +
        'none for it, compile the addon with "npm run build" in a clone of its repository';
  const places =
    tried.length === 0
      ? 'Neither import.meta.url nor __dirname says where this module lies'
      : `Tried ${tried.map((path) => `'${path}'`).join(', ')}: not there`;
  return `${failure(target)}. ${places}. ${advice}`;
}

function explainFailedLoad(file: string, cause: unknown): string {
  // The first line says what went wrong; the rest may be a stack.
  const [reason = ''] = (cause instanceof Error ? cause.message : String(cause)).split('\n');
  return (
    `${failure(currentTarget())}. Tried '${file}': ${reason}. ` +
    'Install the package again, or compile the addon with "npm run build" in a clone of its repository'
  );
}

function failure({ platform, arch, libc }: AddonTarget): string {
  const system = [platform, arch, ...(platform === 'linux' ? [libc ?? 'unknown libc'] : [])];
  return `The native addon of bucketlock cannot be loaded on ${system.join(' ')}, ${runtime()}`;
}

/** Others than Node.js say which Node.js they resemble, too. */
function runtime(): string {
  const { versions } = process;
  const name = ['electron', 'bun', 'deno'].find((other) => versions[other] !== undefined);
  return name === undefined ? `Node.js ${versions.node}` : `${name} ${versions[name] ?? ''}`;
}
