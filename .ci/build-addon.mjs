// Builds the addon. Headers come from the running Node's own installation where they lie there, so that a build needs
// no network; otherwise node-gyp downloads them.
import { buildAddon } from './node-gyp.mjs';

buildAddon();
