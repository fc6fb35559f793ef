import { CONTENDERS, titleOf } from '../contenders/index.mjs';
import { ratios } from './ratios.mjs';
import { sections } from './sections.mjs';

const GAP = 2;

/** Everything that was measured as one text. */
export function table(results) {
  const notes = [];
  const built = sections(results).map(({ title, rows }) => ({
    title,
    rows: rows.map(({ label, cells }) => [
      label,
      ...CONTENDERS.map((name) => textOf(cells[name] ?? '', notes)),
    ]),
  }));
  const header = ['', ...CONTENDERS.map(titleOf)];
  const pairs = ratios(results);
  const widths = header.map((text, column) =>
    Math.max(text.length, ...built.flatMap(({ rows }) => rows.map((row) => row[column].length))),
  );
  const labelWidth = Math.max(widths[0], ...pairs.map(([label]) => label.length));
  widths[0] = labelWidth;
  const lines = [machineLine(results.machine), versionsLine(results.machine), ''];
  if (built.length > 0) lines.push(lineOf(header, widths), '');
  for (const { title, rows } of built) {
    lines.push(title, ...rows.map((row) => lineOf(row, widths)), '');
  }
  lines.push(...notes.map((note, at) => `[${at + 1}] ${note}`));
  if (notes.length > 0) lines.push('');
  if (pairs.length > 0) lines.push('Ratios');
  lines.push(...pairs.map(([label, text]) => `  ${label.padEnd(labelWidth)}  ${text}`));
  return lines.join('\n');
}

export function machineLine({ cpu, cores, kernel, node, disk, memory, date, loadBefore }) {
  return (
    `${cores} cores of ${cpu}, ${kernel}, Node.js ${node}, ${disk} and ${memory}, ${date}; ` +
    `load before the run: ${loadBefore.toFixed(2)}. Medians; ± is half of the range between the quartiles.`
  );
}

function versionsLine({ versions }) {
  return Object.entries(versions)
    .map((pair) => pair.join(' '))
    .join(', ');
}

function textOf(cell, notes) {
  if (typeof cell === 'string') return cell;
  if (!notes.includes(cell.cannot)) notes.push(cell.cannot);
  return `none [${notes.indexOf(cell.cannot) + 1}]`;
}

function lineOf([label, ...cells], [labelWidth, ...widths]) {
  const padded = cells.map((text, column) => text.padStart(widths[column] + GAP));
  return `  ${label.padEnd(labelWidth)}${padded.join('')}`.trimEnd();
}
