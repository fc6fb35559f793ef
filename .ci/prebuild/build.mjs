// Makes the binary of one target by its recipe. Zig keeps what it has compiled by the digest of sources, headers and
// flags, so only what has changed is compiled.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { root } from '../node-gyp.mjs';
import { PLACES, targets } from './targets.mjs';
import { findZig, run } from './zig.mjs';

const require = createRequire(import.meta.url);

/** Answers the path of the binary, in build/cross/<target>/. */
export async function build(name) {
  const target = targets[name];
  if (target === undefined) throw new Error(`no such target: ${name}`);
  const zig = await findZig();
  // Relative, for the linker's command is taken apart at its blanks.
  const folder = path.join('build', 'cross', name);
  mkdirSync(path.join(root, folder), { recursive: true });
  const output = path.join(folder, 'bucketlock.node');
  const places = {
    [PLACES.nodeAddonApi]: path.dirname(require.resolve('node-addon-api/package.json')),
    [PLACES.nodeApiHeaders]: require('node-api-headers').include_dir,
    [PLACES.root]: root.replace(/\/$/, ''),
    [PLACES.library]: path.join(folder, 'libnode.a'),
    [PLACES.source]: writeSource(folder, target.source),
  };
  const { importLibraryFor: machine } = target;
  if (machine !== undefined) {
    const definition = writeDefinition(folder);
    await run([zig, 'dlltool', '-d', definition, '-l', places[PLACES.library], '-m', machine]);
  }
  const command = [zig, ...target.command.map((word) => inPlace(word, places)), '-o', output];
  if (target.moreForTheLinker === undefined) await run(command);
  else await linkByItsOwnCommand(command, zig, target.moreForTheLinker, folder);
  return path.join(root, output);
}

function inPlace(word, places) {
  return Object.entries(places).reduce((text, [name, place]) => text.replace(name, place), word);
}

function writeSource(folder, text) {
  const file = path.join(folder, 'bucketlock.cc');
  writeFileSync(path.join(root, file), text);
  return file;
}

/** What an import library is made from: all functions of Node-API, as the executable's own. */
function writeDefinition(folder) {
  const definitions = path.join(path.dirname(require('node-api-headers').include_dir), 'def');
  const names = readdirSync(definitions)
    .filter((file) => file.endsWith('.def'))
    .flatMap((file) => readFileSync(path.join(definitions, file), 'utf8').split(/\r?\n/))
    .filter((line) => line !== '' && !/^(NAME|EXPORTS)\b/i.test(line));
  const file = path.join(folder, 'node.def');
  writeFileSync(
    path.join(root, file),
    ['NAME node.exe', 'EXPORTS', ...new Set(names.sort()), ''].join('\n'),
  );
  return file;
}

/**
 * The compiler driver has no word for some things that the linker can do: its own command to the linker is repeated
 * with these more words. It tells it only when it links, so it is kept beside what it has linked from.
 */
async function linkByItsOwnCommand(command, zig, more, folder) {
  const cache = path.join(folder, 'zig-cache');
  const kept = path.join(root, cache, 'link-command.json');
  const env = { ZIG_VERBOSE_LINK: '1', ZIG_LOCAL_CACHE_DIR: cache };
  const link = async () => {
    const { stdout, stderr } = await run(command, env);
    const told = `${stdout}\n${stderr}`.split('\n').find((line) => line.startsWith('lld-link '));
    if (told !== undefined) writeFileSync(kept, JSON.stringify(told.trim().split(' ')));
    return existsSync(kept);
  };
  if (!(await link())) {
    rmSync(path.join(root, cache), { recursive: true, force: true });
    if (!(await link())) throw new Error('zig does not tell how it links');
  }
  await run([zig, ...JSON.parse(readFileSync(kept, 'utf8')), ...more]);
}
