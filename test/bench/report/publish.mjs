import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { format, resolveConfig } from 'prettier';

import { writePlots } from './plots.mjs';
import { ratios } from './ratios.mjs';
import { machineLine, table } from './table.mjs';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const BEGIN = '<!-- figures: written by npm run bench -- --publish -->';
const END = '<!-- end of figures -->';

/** What the README shows of the plots, two in a row. */
const IN_README = ['handover', 'fairness', 'throughput', 'waiting'];

/** Puts the results, the plots and the figures into the documentation. */
export async function publish(results) {
  const directory = join(root, 'docs', 'benchmarks');
  const plots = writePlots(results, directory);
  await write(join(directory, 'results.json'), JSON.stringify(results));
  await fill(join(root, 'docs', 'benchmarks.md'), [
    ...['```text', table(results), '```', ''],
    ...plots.flatMap(({ name, title }) => [`![${title}](benchmarks/${name}.svg)`, '']),
    'The same as [JSON](benchmarks/results.json).',
  ]);
  await fill(join(root, 'README.md'), [
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

/** Replaces what stands between the two marks. */
async function fill(file, lines) {
  const text = readFileSync(file, 'utf8');
  const begin = text.indexOf(BEGIN);
  const end = text.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`${file} has no place for figures`);
  const filled = [text.slice(0, begin + BEGIN.length), '', ...lines, '', text.slice(end)].join(
    '\n',
  );
  await write(file, filled);
}

/** Laid out as `npm run lint` wants it. */
async function write(file, text) {
  const config = await resolveConfig(file);
  writeFileSync(file, await format(text, { ...config, filepath: file }));
}
