import { spawnSync } from 'node:child_process';

/** Where the compiler keeps one of its own shared libraries. */
function pathOf(library: string): string {
  const asked = spawnSync('g++', [`-print-file-name=${library}`], { encoding: 'utf8' });
  return asked.status === 0 ? asked.stdout.trim() : library;
}

/** The environment in which Node.js, which has no sanitizers itself, loads an addon that has them. */
export function preloading(libraries: readonly string[]): NodeJS.ProcessEnv {
  return { LD_PRELOAD: libraries.map(pathOf).join(' ') };
}

/** Whether Node.js runs on this kernel with the runtime libraries of sanitizers. */
export function nodeRunsWith(libraries: readonly string[]): boolean {
  const env = { ...process.env, ...preloading(libraries), ASAN_OPTIONS: 'detect_leaks=0' };
  // The loader only warns of a library that it does not find.
  const args = ['--print', 'process.report.getReport().sharedObjects.join()'];
  const { status, stdout } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
  return status === 0 && libraries.every((library) => stdout.includes(library));
}
