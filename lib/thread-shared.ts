/**
 * A thing that exists once in this thread, however many copies of this module are loaded in it:
 * two registries of locks would each know half of the truth. Whoever changes the shape of a thing
 * changes its name.
 */
export function sharedInThread<T>(name: string, make: () => T): T {
  const key = Symbol.for(`bucketlock.${name}`);
  const known = Reflect.get(globalThis, key) as T | undefined;
  if (known !== undefined) return known;
  const made = make();
  Object.defineProperty(globalThis, key, { value: made });
  return made;
}
