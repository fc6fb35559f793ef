import { inspect } from 'node:util';

type Coded<E extends Error> = E & { readonly code: string };

/** A `TypeError` with Node's own code for an argument of the wrong type. */
export function invalidType(name: string, expected: string, got: unknown): Coded<TypeError> {
  return coded(new TypeError(sentence(name, expected, got)), 'ERR_INVALID_ARG_TYPE');
}

/** A `TypeError` with Node's own code for an argument of the right type and a useless value. */
export function invalidValue(name: string, expected: string, got: unknown): Coded<TypeError> {
  return coded(new TypeError(sentence(name, expected, got)), 'ERR_INVALID_ARG_VALUE');
}

/** A `RangeError` with Node's own code. `notation`: how such a value is written. */
export function outOfRange(
  name: string,
  expected: string,
  got: unknown,
  notation: (got: unknown) => string = show,
): Coded<RangeError> {
  return coded(new RangeError(sentence(name, expected, got, notation)), 'ERR_OUT_OF_RANGE');
}

/** A `TypeError` with Node's own code for a callback that returned what it must not. */
export function invalidReturn(name: string, expected: string): Coded<TypeError> {
  return coded(new TypeError(`expected ${name} to be ${expected}`), 'ERR_INVALID_RETURN_VALUE');
}

function sentence(name: string, expected: string, got: unknown, notation = show): string {
  const type = got === null || got === undefined ? '' : ` (${typeof got})`;
  return `expected ${name} to be ${expected}, got ${notation(got)}${type}`;
}

function show(value: unknown): string {
  return inspect(value, { depth: 0, maxStringLength: 40, breakLength: Infinity });
}

/** As permissions are written: in octal, where that makes sense of it. */
export function showMode(value: unknown): string {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0
    ? `0o${value.toString(8)}`
    : show(value);
}

function coded<E extends Error>(error: E, code: string): Coded<E> {
  return Object.assign(error, { code });
}
