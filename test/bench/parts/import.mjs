import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { split } from '../contenders/index.mjs';
import { summary } from '../harness/statistics.mjs';

const program = fileURLToPath(new URL('../participant/first-lock.mjs', import.meta.url));

/**
 * Nanoseconds until a contender is imported, and until a lock that nobody disputes is held, from
 * before the import: `imported` and `held`, each time in a fresh process.
 */
export async function importing(work, { rounds }) {
  const { able, reasons } = await split('import');
  const lines = able.map((name) => ({
    name,
    directory: work.directory(),
    imported: [],
    held: [],
  }));
  // The first round fills the caches of the file system.
  for (let round = 0; round <= rounds; round += 1) {
    for (const { name, directory, imported, held } of lines) {
      const [toImported, toHeld] = firstLock(name, directory);
      if (round === 0) continue;
      imported.push(toImported);
      held.push(toHeld);
    }
  }
  const measured = lines.map(({ name, imported, held }) => [
    name,
    { imported: summary(imported), held: summary(held) },
  ]);
  return { ...Object.fromEntries(measured), ...reasons };
}

function firstLock(name, directory) {
  const module = new URL(`../contenders/${name}.mjs`, import.meta.url).href;
  return JSON.parse(execFileSync(process.execPath, [program, module, directory]));
}
