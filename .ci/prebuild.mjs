// Builds the binaries that the package ships, for all targets or those named, and ties each in prebuilds/manifest.json
// to what it was made from.
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { root } from './node-gyp.mjs';
import { build } from './prebuild/build.mjs';
import { readManifest, recipeDigest, writeManifest } from './prebuild/manifest.mjs';
import { writeSizes } from './prebuild/readme.mjs';
import { targets } from './prebuild/targets.mjs';
import { sha256, sourcesDigest } from './sources-digest.mjs';

/** Never half a binary under its name, whatever is interrupted. */
function install(built, file) {
  const shipped = path.join(root, file);
  mkdirSync(path.dirname(shipped), { recursive: true });
  const isNew = !existsSync(shipped) || !readFileSync(built).equals(readFileSync(shipped));
  if (isNew) {
    copyFileSync(built, `${shipped}.new`);
    renameSync(`${shipped}.new`, shipped);
  }
  return isNew;
}

// Whatever else the machine does goes first.
os.setPriority(10);
const named = process.argv.slice(2);
for (const name of named.length === 0 ? Object.keys(targets) : named) {
  // Taken first: an edit made during the build then shows as a drift instead of being signed for.
  const sources = sourcesDigest();
  const built = await build(name);
  const { file } = targets[name];
  const isNew = install(built, file);
  const digest = sha256(readFileSync(path.join(root, file)));
  const manifest = readManifest();
  manifest[name] = { file, sha256: digest, sources, recipe: recipeDigest(name) };
  writeManifest(manifest);
  console.log(`${isNew ? 'new ' : 'same'} ${file} ${statSync(built).size} bytes`);
}
writeSizes();
