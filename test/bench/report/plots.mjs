import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { render } from './chart.mjs';
import { charts } from './charts.mjs';

/** Writes one SVG for each chart whose part was measured, and answers each one's name and title. */
export function writePlots(results, directory) {
  mkdirSync(directory, { recursive: true });
  const drawn = charts(results);
  for (const [name, option] of Object.entries(drawn)) {
    writeFileSync(join(directory, `${name}.svg`), `${render(option)}\n`);
  }
  return Object.entries(drawn).map(([name, { title }]) => ({ name, title: title.text }));
}
