// Compiles the addon for other systems than this one, and for this one as it is shipped, into
// build/cross/<target>/bucketlock.node, and prints the paths.
//
//   node .ci/cross-build.mjs [<target>…]      without an argument: all of them
import os from 'node:os';
import { build } from './prebuild/build.mjs';
import { targets } from './prebuild/targets.mjs';

// Whatever else the machine does goes first.
os.setPriority(10);
const wanted = process.argv.slice(2);
for (const name of wanted.length === 0 ? Object.keys(targets) : wanted) {
  console.log(await build(name));
}
