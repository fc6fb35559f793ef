import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { packageRoot } from './program.js';

/** A user's project with the package in it, as its tarball holds it. */
export interface InstalledPackage {
  readonly directory: string;
  /** The package's entry file. */
  readonly entry: string;
}

/** Packs what is built, and lays it out below `directory` as an install does. */
export function installPackage(directory: string): InstalledPackage {
  const installed = join(directory, 'node_modules', 'bucketlock');
  mkdirSync(installed, { recursive: true });
  const pack = ['pack', '--silent', '--ignore-scripts', '--pack-destination', directory];
  execFileSync('npm', pack, { cwd: packageRoot, stdio: ['ignore', 'ignore', 'inherit'] });
  const [tarball] = readdirSync(directory).filter((name) => name.endsWith('.tgz'));
  if (tarball === undefined) throw new Error('npm pack has made no tarball');
  const path = join(directory, tarball);
  execFileSync('tar', ['-xzf', path, '-C', installed, '--strip-components=1']);
  rmSync(path);
  const manifest = { private: true, type: 'module', dependencies: { bucketlock: '*' } };
  writeFileSync(join(directory, 'package.json'), JSON.stringify(manifest));
  return { directory, entry: join(installed, 'dist', 'index.js') };
}

/** Lays a program of `test/fixtures` into the project, and answers its path there. */
export function addProgram({ directory }: InstalledPackage, name: string): string {
  const source = fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
  const path = join(directory, basename(name));
  copyFileSync(source, path);
  return path;
}
