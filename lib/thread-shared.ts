/**
 * A thing that exists once in this thread, however many copies of this module are loaded in it:
 * two registries of locks would each know half of the truth. Whoever changes the shape of a thing
 * changes its name. Answers a function that finds it, or makes it when first called.
 */
export function sharedInThread<T extends object>(name: string, make: () => T): () => T {
  let found: T | undefined;
  return () => (found ??= findOrMake(Symbol.for(`bucketlock.${name}`), make));
}

function findOrMake<T>(key: symbol, make: () => T): T {
  const known = Reflect.get(globalThis, key) as T | undefined;
  if (known !== undefined) return known;
  const made = make();
  Object.defineProperty(globalThis, key, { value: made });
  return made;
}
