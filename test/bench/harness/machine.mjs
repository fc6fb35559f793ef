import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem, type } from 'node:os';

import { CONTENDERS } from '../contenders/index.mjs';

/** What the figures depend on. */
export function machine({ disk, memory }) {
  return {
    date: new Date().toISOString().slice(0, 10),
    cpu: cpus()[0].model,
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    kernel: `${type()} ${release().split('.').slice(0, 2).join('.')}`,
    node: process.version,
    disk: fileSystemOf(disk),
    memory: fileSystemOf(memory),
    versions: Object.fromEntries(
      CONTENDERS.filter((name) => name !== 'c').map((name) => [name, versionOf(name)]),
    ),
    loadBefore: loadavg()[0],
  };
}

function fileSystemOf(directory) {
  const output = execFileSync('df', ['--output=fstype', directory], { encoding: 'utf8' });
  return output.trim().split('\n').at(-1);
}

function versionOf(name) {
  const folder = name === 'bucketlock' ? '../../..' : `../../../node_modules/${name}`;
  const manifest = new URL(`${folder}/package.json`, import.meta.url);
  return JSON.parse(readFileSync(manifest, 'utf8')).version;
}
