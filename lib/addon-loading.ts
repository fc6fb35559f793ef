import Module from 'node:module';
import { dirname, resolve } from 'node:path';

import { refuseCutOff } from './addon-cut-off.js';
import { firstFile, ownBuilds, ownFolder, shippedFiles, shippedTargets } from './addon-file.js';
import type { AddonTarget, Obstacles } from './addon-file.js';
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
    const reason = 'Neither import.meta nor __dirname says where this module lies';
    throw new LockAddonError(`${failure()}. ${reason}`, {});
  }
  const builds = ownBuilds(folder);
  // Asked in a clone alone: Deno wants a permission for it.
  const withoutBuilds = builds.length > 0 && Boolean(process.env['PREBUILDS_ONLY']);
  const files = [...(withoutBuilds ? [] : builds), ...shippedFiles(folder, currentTarget())];
  const obstacles: Obstacles = [];
  const file = firstFile(files, obstacles);
  if (file !== undefined) return load(file);
  const [cause] = obstacles;
  throw new LockAddonError(explainNoFile(folder, files, cause), {
    path: dirname(folder),
    ...(cause && { cause }),
  });
}

function load(file: string): NativeAddon {
  try {
    refuseCutOff(file);
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

const INSTALL_OR_COMPILE =
  'Install the package again, or compile the addon with "npm run build" in a clone of its repository';

function explainNoFile(folder: string, tried: readonly string[], cause: Error | undefined): string {
  if (tried.length === 0) {
    return (
      `${failure()}. Neither '${process.execPath}' nor process.report tells which C library this is. ` +
      'A runtime that asks for permissions has to be allowed to read the former'
    );
  }
  const places = tried.map((path) => `'${path}'`).join(', ');
  if (cause !== undefined) return `${failure()}. Tried ${places}: ${firstLine(cause)}`;
  const shipped = shippedTargets(folder);
  const advice =
    shipped.length === 0
      ? 'Install the package again, or lay its folder "prebuilds" beside the bundle that it is in'
      : `There are binaries for ${shipped.join(', ')}. Install the package on this system; if it has ` +
        'none for it, compile the addon with "npm run build" in a clone of its repository';
  return `${failure()}. Tried ${places}: not there. ${advice}`;
}

function explainFailedLoad(file: string, cause: unknown): string {
  return `${failure()}. Tried '${file}': ${firstLine(cause)}. ${adviceFor(cause)}`;
}

function adviceFor(cause: unknown): string {
  const { code, name } = cause as { code?: unknown; name?: unknown };
  const isForbidden =
    code === 'ERR_DLOPEN_DISABLED' || code === 'ERR_ACCESS_DENIED' || name === 'NotCapable';
  return isForbidden
    ? 'This runtime has been started without leave to load addons'
    : INSTALL_OR_COMPILE;
}

/** The rest may be a stack. */
function firstLine(cause: unknown): string {
  return (cause instanceof Error ? cause.message : String(cause)).split('\n')[0] ?? '';
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
