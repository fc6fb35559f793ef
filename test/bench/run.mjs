// Uncontended cost of a bucket lock, against the bare system calls and against its peers.
//   node test/bench/run.mjs [--rounds 15] [--count 1000] [--json]
import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';

import { measureUncontended } from './uncontended.mjs';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '15' },
    count: { type: 'string', default: '1000' },
    disk: { type: 'string', default: tmpdir() },
    memory: { type: 'string', default: '/dev/shm' },
    json: { type: 'boolean', default: false },
  },
});
const sizes = { rounds: Number(values.rounds), count: Number(values.count) };
const results = {
  disk: await measureUncontended({ parent: values.disk, ...sizes }),
  tmpfs: await measureUncontended({ parent: values.memory, ...sizes }),
};

function ratios(cost) {
  const bare = cost['C program, bare system calls'];
  const trips = cost['two empty trips through the pool'];
  return {
    'sync against the C program': cost['bucketlock, sync'] / bare,
    'async against C program and two trips': cost['bucketlock, async'] / (bare + trips),
    'proper-lockfile async against bucketlock async':
      cost['proper-lockfile, async'] / cost['bucketlock, async'],
    'proper-lockfile sync against bucketlock sync':
      cost['proper-lockfile, sync'] / cost['bucketlock, sync'],
  };
}

if (values.json) {
  console.log(JSON.stringify({ ...sizes, nanoseconds: results }, null, 2));
} else {
  console.log(
    `Medians of ${sizes.rounds} rounds of ${sizes.count} acquire and release, one at a time.\n`,
  );
  for (const [fileSystem, cost] of Object.entries(results)) {
    console.log(fileSystem);
    for (const [name, nanoseconds] of Object.entries(cost)) {
      console.log(`  ${name.padEnd(48)}${(nanoseconds / 1000).toFixed(1).padStart(9)} us`);
    }
    for (const [name, ratio] of Object.entries(ratios(cost))) {
      console.log(`  ${name.padEnd(48)}${ratio.toFixed(2).padStart(9)} x`);
    }
    console.log();
  }
}
