// Measures bucketlock beside its peers and beside a C program that makes the same system calls:
// one table, and the same as JSON and as plots. See docs/benchmarks.md.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { dirname } from 'node:path';

import { machine } from './harness/machine.mjs';
import { Work } from './harness/work.mjs';
import { USAGE, readOptions } from './options.mjs';
import { measure } from './parts/index.mjs';
import { writePlots } from './report/plots.mjs';
import { checkPlaces, publish } from './report/publish.mjs';
import { table } from './report/table.mjs';
import { FULL, QUICK } from './sizes.mjs';

const EXIT_FAILED = 1;
const EXIT_USAGE = 64;
const EXIT_INTERRUPTED = 130;

const options = optionsOrExit();
if (options.publish) checkPlaces();
const results =
  options.from === undefined ? await run() : JSON.parse(readFileSync(options.from, 'utf8'));
console.log(table(results));
if (options.json !== undefined) {
  mkdirSync(dirname(options.json), { recursive: true });
  writeFileSync(options.json, `${JSON.stringify(results, null, 2)}\n`);
}
if (options.svg !== undefined) writePlots(results, options.svg);
if (options.publish && process.exitCode !== EXIT_FAILED) await publish(results);

async function run() {
  const sizes = options.quick ? QUICK : FULL;
  const results = { machine: machine(options), sizes };
  const works = { disk: new Work(options.disk), memory: new Work(options.memory) };
  process.on('exit', () => {
    for (const work of Object.values(works)) work.remove();
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => process.exit(EXIT_INTERRUPTED));
  }
  for (const part of options.parts) {
    const start = performance.now();
    process.stderr.write(`${part} …`);
    try {
      results[part] = await measure(part, works, sizes);
    } catch (error) {
      // The other parts are worth having all the same.
      console.error(error);
      process.exitCode = EXIT_FAILED;
    }
    process.stderr.write(` ${((performance.now() - start) / 1000).toFixed(0)} s\n`);
  }
  results.machine.loadAfter = loadavg()[0];
  return results;
}

function optionsOrExit() {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    console.error(`${error.message}\n\n${USAGE}`);
    process.exit(EXIT_USAGE);
  }
}
