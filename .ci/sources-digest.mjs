// One digest over everything the addon is built from. Prints it; prebuilds/manifest.json records it for each binary.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './node-gyp.mjs';

export function sha256(data) {
  return createHash('sha256').update(data).digest('hex');
}

export function sourcesDigest() {
  const native = readdirSync(path.join(root, 'native'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)));
  const lines = ['binding.gyp', ...native]
    .map((file) => file.split(path.sep).join('/'))
    .sort()
    .map((file) => `${file} ${sha256(readFileSync(path.join(root, file)))}\n`);
  return sha256(lines.join(''));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) console.log(sourcesDigest());
