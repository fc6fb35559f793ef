// Builds the binary that the package ships for this machine, and ties it to the native sources in prebuilds/manifest.json.
import { copyFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { buildAddon, localNodeDir, root, run } from './node-gyp.mjs';
import { sha256, sourcesDigest } from './sources-digest.mjs';

const libc =
  process.platform !== 'linux' ? '' : existsSync('/etc/alpine-release') ? 'musl' : 'glibc';
const folder = `${process.platform}-${process.arch}`;
const target = [folder, libc].filter(Boolean).join('-');
const file = path.posix.join(
  'prebuilds',
  folder,
  ['bucketlock', libc, 'node'].filter(Boolean).join('.'),
);

// Taken first: an edit made during the build then shows as a drift instead of being signed for.
const sources = sourcesDigest();
const nodeDir = localNodeDir();
run(
  process.execPath,
  [
    createRequire(import.meta.url).resolve('prebuildify/bin.js'),
    '--napi',
    '--strip',
    ...(libc === '' ? [] : ['--tag-libc', libc]),
    '--target',
    process.version,
  ],
  nodeDir === undefined ? process.env : { ...process.env, npm_config_nodedir: nodeDir },
);

// What prebuildify leaves is a hard link to make's intermediate file. What is shipped shares its bytes with nobody.
const shipped = path.join(root, file);
copyFileSync(shipped, `${shipped}.copy`);
renameSync(`${shipped}.copy`, shipped);

const manifestPath = path.join(root, 'prebuilds', 'manifest.json');
const manifest = existsSync(manifestPath) ? JSON.parse(readFileSync(manifestPath, 'utf8')) : {};
manifest[target] = { file, sha256: sha256(readFileSync(shipped)), sources };
const sorted = Object.fromEntries(
  Object.entries(manifest).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)),
);
writeFileSync(manifestPath, `${JSON.stringify(sorted, undefined, 2)}\n`);

// prebuildify moves the binary out of build/Release.
buildAddon();
