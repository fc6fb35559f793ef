// Builds the addon into build/Release. Headers come from the running Node's own installation where they lie there,
// so that a build needs no network; otherwise node-gyp downloads them.
import { nodeGyp } from './node-gyp.mjs';

nodeGyp(process.argv.includes('--rebuild') ? 'rebuild' : 'build');
