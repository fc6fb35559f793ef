import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const sources = join(dirname(fileURLToPath(import.meta.url)), '..', 'native');

/** Compiles a C program of ../native into `directory` and answers its path. */
export function compileProgram(directory, name) {
  const program = join(directory, name);
  execFileSync('cc', ['-O2', '-Wall', '-o', program, join(sources, `${name}.c`)]);
  return program;
}

/** Compiles an addon of ../native into `directory` and answers its exports. */
export function loadAddon(directory, name) {
  const headers = join(dirname(dirname(process.execPath)), 'include', 'node');
  if (!existsSync(join(headers, 'node_api.h'))) throw new Error(`no Node.js headers in ${headers}`);
  const addon = join(directory, `${name}.node`);
  const flags = ['-O2', '-Wall', '-shared', '-fPIC', `-DNODE_GYP_MODULE_NAME=${name}`];
  execFileSync('cc', [...flags, `-I${headers}`, '-o', addon, join(sources, `${name}.c`)]);
  return createRequire(import.meta.url)(addon);
}
