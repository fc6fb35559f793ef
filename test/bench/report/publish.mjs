import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { format, resolveConfig } from 'prettier';

import { writePlots } from './plots.mjs';
import { ratios } from './ratios.mjs';
import { machineLine, table } from './table.mjs';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const PAGE = join(root, 'docs', 'benchmarks.md');
const README = join(root, 'README.md');
const BEGIN = '<!-- figures: written by npm run bench -- --publish -->';
const END = '<!-- end of figures -->';

/** What the README shows of the plots, two in a row. */
const IN_README = ['handover', 'fairness', 'throughput', 'waiting'];

/** Puts the results, the plots and the figures into the documentation. */
export async function publish(results) {
  const directory = join(root, 'docs', 'benchmarks');
  const plots = writePlots(results, directory);
  await write(join(directory, 'results.json'), JSON.stringify(results));
  await fill(PAGE, [
    ...['```text', table(results), '```', ''],
    ...plots.flatMap(({ name, title }) => [`![${title}](benchmarks/${name}.svg)`, '']),
    'The same as [JSON](benchmarks/results.json).',
  ]);
  await fill(README, [
    ...['| figure | value |', '| --- | --- |'],
    ...ratios(results).map(([label, text]) => `| ${label} | ${text} |`),
    ...['', machineLine(results.machine), '', '<p>'],
    ...plots
      .filter(({ name }) => IN_README.includes(name))
      .map(
        ({ name, title }) => `<img src="docs/benchmarks/${name}.svg" width="49%" alt="${title}">`,
      ),
    '</p>',
  ]);
}

/** Throws where the documentation has no place for figures: not only after all is measured. */
export function checkPlaces() {
  for (const file of [PAGE, README]) placeIn(file);
}

/** Replaces what stands between the two marks. */
async function fill(file, lines) {
  const [before, after] = placeIn(file);
  await write(file, [before, '', ...lines, '', after].join('\n'));
}

function placeIn(file) {
  const text = readFileSync(file, 'utf8');
  const begin = text.indexOf(BEGIN);
  const end = text.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`${file} has no place for figures`);
  return [text.slice(0, begin + BEGIN.length), text.slice(end)];
}

/** Laid out as `npm run lint` wants it. */
async function write(file, text) {
  const config = await resolveConfig(file);
  writeFileSync(file, await format(text, { ...config, filepath: file }));
}
