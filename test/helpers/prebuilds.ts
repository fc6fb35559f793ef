import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';

import { packageRoot } from './program.js';

/** What a shipped binary was made from, or would be made from now. */
export interface Origin {
  readonly file: string;
  readonly sources: string;
  readonly recipe: string;
}

export interface Prebuild extends Origin {
  readonly sha256: string;
}

/** The shipped binaries, by target. */
export const prebuilds = JSON.parse(
  readFileSync(path.join(packageRoot, 'prebuilds', 'manifest.json'), 'utf8'),
) as Readonly<Record<string, Prebuild>>;

/** What `npm run prebuilds` would make now, by target. */
export function currentOrigins(): Record<string, Origin> {
  const script = path.join(packageRoot, '.ci', 'prebuild', 'digests.mjs');
  return JSON.parse(execFileSync(process.execPath, [script], { encoding: 'utf8' })) as Record<
    string,
    Origin
  >;
}

export function sha256Of(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}
