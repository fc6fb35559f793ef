/** The brand of a class, the same in every copy of this module. */
function brandOf(name: string): symbol {
  return Symbol.for(`bucketlock.${name}`);
}

/** Gives a class its name and brand, on the prototype: subclasses carry their ancestors' brands. */
export function brand(prototype: object, name: string): void {
  Object.defineProperty(prototype, 'name', { value: name, configurable: true, writable: true });
  Object.defineProperty(prototype, brandOf(name), { value: true });
}

/** Whether a value carries the brand of the class of this name, from whichever copy it comes. */
export function hasBrand(value: unknown, name: string): boolean {
  return typeof value === 'object' && value !== null && Reflect.get(value, brandOf(name)) === true;
}
