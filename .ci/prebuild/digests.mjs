// Prints as JSON, for each target, its file and the digests of what it would be made from now.
import { sourcesDigest } from '../sources-digest.mjs';
import { recipeDigest } from './manifest.mjs';
import { targets } from './targets.mjs';

const sources = sourcesDigest();
const digests = Object.entries(targets).map(([name, { file }]) => [
  name,
  { file, sources, recipe: recipeDigest(name) },
]);
console.log(JSON.stringify(Object.fromEntries(digests)));
