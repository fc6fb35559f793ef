import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const mounted: string[] = [];

function run(command: string, args: readonly string[]): void {
  execFileSync(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
}

/** A second view of `source` at `target`, through FUSE. */
export function mountBindfs(source: string, target: string): void {
  run('bindfs', [source, target]);
  mounted.push(target);
}

export interface Overlay {
  readonly lower: string;
  readonly upper: string;
  readonly work: string;
  readonly merged: string;
}

export function mountOverlay({ lower, upper, work, merged }: Overlay): void {
  const layers = `lowerdir=${lower},upperdir=${upper},workdir=${work}`;
  run('mount', ['-t', 'overlay', 'overlay', '-o', layers, merged]);
  mounted.push(merged);
}

/** An empty file system in memory, with options such as `size=64k`. Hides what is at `target`. */
export function mountTmpfs(target: string, ...options: readonly string[]): void {
  run('mount', ['-t', 'tmpfs', '-o', ['mode=755', ...options].join(), 'tmpfs', target]);
  mounted.push(target);
}

/** Changes the options of what is mounted at `target`. */
export function remount(target: string, ...options: readonly string[]): void {
  run('mount', ['-o', ['remount', ...options].join(), target]);
}

export function unmount(target: string): void {
  mounted.splice(mounted.lastIndexOf(target), 1);
  run('umount', ['--lazy', target]);
}

function isMounted(target: string): boolean {
  return readFileSync('/proc/self/mounts', 'utf8').includes(` ${target} `);
}

/** Unmounts, in reverse order, what the functions above mounted. */
export function unmountAll(): void {
  for (const target of mounted.splice(0).reverse()) {
    // Lazily: a process that is being killed may keep a file open for a moment.
    if (isMounted(target)) run('umount', ['--lazy', target]);
  }
}
