import { readFileSync } from 'node:fs';
import path from 'node:path';

import { packageRoot } from './program.js';

/** The code blocks of one section of a document, in order. Tests run what readers copy. */
export function codeOf(document: string, section: string): string[] {
  const text = readFileSync(path.join(packageRoot, document), 'utf8');
  const found = text.split(/^## /m).find((part) => part.startsWith(`${section}\n`));
  if (found === undefined) throw new Error(`${document} has no section "${section}"`);
  return [...found.matchAll(/^```\w+\n(.*?)^```$/gms)].map(([, code = '']) => code);
}
