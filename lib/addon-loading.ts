import { existsSync } from 'node:fs';
import Module from 'node:module';
import { dirname, resolve } from 'node:path';

import { ownBuild, ownFolder, shippedFiles, shippedTargets } from './addon-file.js';
import type { AddonTarget } from './addon-file.js';
import { LockAddonError } from './errors.js';
import { currentLibc } from './libc.js';
import type { NativeAddon } from './native.js';

/**
 * Loads the first binary that is there: a build of one's own in a clone, else the shipped one for
 * this system. With `PREBUILDS_ONLY` in the environment, the shipped one.
 */
export function loadAddonFile(): NativeAddon {
  const folder = ownFolder();
  if (folder === undefined) {
    const reason = 'Neither import.meta.url nor __dirname says where this module lies';
    throw new LockAddonError(`${failure()}. ${reason}`, {});
  }

  const build = ownBuild(folder);
  if (existsSync(build) && !process.env['PREBUILDS_ONLY']) return load(build);

  const files = shippedFiles(folder, currentTarget());
  const file = files.find(existsSync);
  if (file !== undefined) return load(file);

  throw new LockAddonError(explainNoFile(folder, [build, ...files]), { path: dirname(folder) });
}

function load(file: string): NativeAddon {
  try {
    // By its named import, webpack would take it for one of its own and drop it.
    const addon = Module.createRequire(resolve(file))(file) as Partial<NativeAddon>;
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

function explainNoFile(folder: string, tried: readonly string[]): string {
  const shipped = shippedTargets(folder);
  const advice =
    shipped.length === 0
      ? 'Install the package again, or lay its folder "prebuilds" beside the bundle that it is in'
      : `There are binaries for ${shipped.join(', ')}. Install the package on this system; if it has ` +
        'none for it, compile the addon with "npm run build" in a clone of its repository';
  const places = tried.map((path) => `'${path}'`).join(', ');
  return `${failure()}. Tried ${places}: not there. ${advice}`;
}

function explainFailedLoad(file: string, cause: unknown): string {
  // The first line says what went wrong; the rest may be a stack.
  const [reason = ''] = (cause instanceof Error ? cause.message : String(cause)).split('\n');
  return (
    `${failure()}. Tried '${file}': ${reason}. ` +
    'Install the package again, or compile the addon with "npm run build" in a clone of its repository'
  );
}

function failure(): string {
  const { platform, arch, libc } = currentTarget();
  const system = [platform, arch, ...(platform === 'linux' ? [libc ?? 'unknown libc'] : [])];
  return `The native addon of bucketlock cannot be loaded on ${system.join(' ')}, ${runtime()}`;
}

/** Others than Node.js say which Node.js they resemble, too. */
function runtime(): string {
  const { versions } = process;
  const name = ['electron', 'bun', 'deno'].find((other) => versions[other] !== undefined);
  return name === undefined ? `Node.js ${versions.node}` : `${name} ${versions[name] ?? ''}`;
}
