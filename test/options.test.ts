import { describe, expect, test } from 'vitest';

import {
  DEFAULT_BUCKET_LOCK_SETTINGS,
  readAcquireOptions,
  readBreakOptions,
  readBucketLockOptions,
  readInspectOptions,
} from '../lib/options.js';

function typeError(code: string, message?: string) {
  return expect.objectContaining({
    name: 'TypeError',
    code,
    ...(message === undefined ? {} : { message }),
  }) as Error;
}

function rangeError(message: string) {
  return expect.objectContaining({
    name: 'RangeError',
    code: 'ERR_OUT_OF_RANGE',
    message,
  }) as Error;
}

const defaults = DEFAULT_BUCKET_LOCK_SETTINGS;

describe('defaults', () => {
  test('no options, no named options and undefined options mean the documented defaults', () => {
    const documented = {
      waitMs: 10_000,
      signal: undefined,
      label: undefined,
      onWait: undefined,
      detached: false,
      mode: 0o600,
      create: true,
      recordFormat: 'full',
      releaseRetryMs: 10_000,
      trustKernelLocks: false,
    };
    expect(readBucketLockOptions(undefined)).toEqual(documented);
    expect(readBucketLockOptions({})).toEqual(documented);
    expect(readBucketLockOptions({ waitMs: undefined, mode: undefined })).toEqual(documented);
  });

  test("what a call gives wins over the constructor's defaults, undefined does not", () => {
    const settings = { ...defaults, waitMs: 5, label: 'default' };
    const read = readAcquireOptions({ waitMs: 7, label: undefined }, settings);
    expect(read).toMatchObject({ waitMs: 7, label: 'default' });
  });
});

describe('waitMs', () => {
  test.each([0, 0.5, 10_000, 2 ** 31, Number.MAX_VALUE, Infinity])(
    '%d is taken as it is',
    (waitMs) => {
      expect(readAcquireOptions({ waitMs }, defaults).waitMs).toBe(waitMs);
    },
  );

  test.each([-1, -Infinity, NaN])('%d is out of range', (waitMs) => {
    const message = `expected options.waitMs to be a number of milliseconds from 0 to Infinity, got ${waitMs} (number)`;
    expect(() => readAcquireOptions({ waitMs }, defaults)).toThrow(rangeError(message));
  });

  test.each(['5', 5n, true, null, {}])('%o is of the wrong type', (waitMs) => {
    expect(() => readAcquireOptions({ waitMs }, defaults)).toThrow(
      typeError('ERR_INVALID_ARG_TYPE'),
    );
  });
});

describe('label', () => {
  test('1024 UTF-16 units are taken, one more is out of range', () => {
    const label = 'é'.repeat(1024);
    expect(readAcquireOptions({ label }, defaults).label).toBe(label);
    expect(() => readAcquireOptions({ label: `${label}x` }, defaults)).toThrow(
      rangeError(
        `expected options.label to be a string of at most 1024 UTF-16 units, got '${'é'.repeat(40)}'... 985 more characters (string)`,
      ),
    );
  });

  test('lone surrogates become U+FFFD and pairs stay', () => {
    const label = '\ud83d\ude00 \ud83d \ude00';
    expect(readAcquireOptions({ label }, defaults).label).toBe('\ud83d\ude00 \ufffd \ufffd');
  });

  test('a label that is no string is of the wrong type', () => {
    expect(() => readAcquireOptions({ label: 7 }, defaults)).toThrow(
      typeError('ERR_INVALID_ARG_TYPE', 'expected options.label to be a string, got 7 (number)'),
    );
  });
});

describe('other acquire options', () => {
  test('a signal, a callback and a flag are taken as they are', () => {
    const given = { signal: new AbortController().signal, onWait: () => undefined, detached: true };
    expect(readAcquireOptions(given, defaults)).toMatchObject(given);
  });

  test.each([
    ['signal', {}],
    ['signal', null],
    ['signal', { aborted: false }],
    ['onWait', 'call me'],
    ['detached', 1],
  ])('%s of the wrong type is refused', (name, value) => {
    expect(() => readAcquireOptions({ [name]: value }, defaults)).toThrow(
      typeError('ERR_INVALID_ARG_TYPE'),
    );
  });
});

describe('bucket lock options', () => {
  test.each([0o600, 0o660, 0o777])('mode %d is taken', (mode) => {
    expect(readBucketLockOptions({ mode }).mode).toBe(mode);
  });

  test.each([
    [0, '0o0'],
    [0o400, '0o400'],
    [0o066, '0o66'],
    [0o1600, '0o1600'],
    [-1, '-1'],
    [1.5, '1.5'],
    [NaN, 'NaN'],
  ])('mode %d is out of range, and shown as %s', (mode, shown) => {
    expect(() => readBucketLockOptions({ mode })).toThrow(
      rangeError(
        `expected options.mode to be file permissions from 0o600 to 0o777 with the bits of 0o600, got ${shown} (number)`,
      ),
    );
  });

  test.each([
    ['mode', '600', 'ERR_INVALID_ARG_TYPE'],
    ['create', 'yes', 'ERR_INVALID_ARG_TYPE'],
    ['recordFormat', 'json', 'ERR_INVALID_ARG_VALUE'],
    ['recordFormat', 1, 'ERR_INVALID_ARG_VALUE'],
    ['releaseRetryMs', '1', 'ERR_INVALID_ARG_TYPE'],
    ['trustKernelLocks', null, 'ERR_INVALID_ARG_TYPE'],
  ])('%s: %o is refused with %s', (name, value, code) => {
    expect(() => readBucketLockOptions({ [name]: value })).toThrow(typeError(code));
  });
});

describe('the options object', () => {
  test.each([null, 'waitMs', 5, true])('%o is no options object', (options) => {
    expect(() => readAcquireOptions(options, defaults)).toThrow(typeError('ERR_INVALID_ARG_TYPE'));
  });

  test('a misspelt name is reported with the names there are', () => {
    expect(() => readAcquireOptions({ waitMS: 5 }, defaults)).toThrow(
      typeError(
        'ERR_INVALID_ARG_VALUE',
        "expected every option to be one of waitMs, signal, label, onWait, detached, got 'waitMS' (string)",
      ),
    );
  });

  test('names of Object.prototype are no options', () => {
    expect(() => readAcquireOptions({ toString: 1 }, defaults)).toThrow(
      typeError('ERR_INVALID_ARG_VALUE'),
    );
  });

  test('an option of the constructor is none of an acquire', () => {
    expect(() => readAcquireOptions({ mode: 0o600 }, defaults)).toThrow(
      typeError('ERR_INVALID_ARG_VALUE'),
    );
  });

  test('each option is read once and the object is left as it was', () => {
    let reads = 0;
    const options = Object.freeze({
      get waitMs() {
        reads += 1;
        return reads === 1 ? 5 : 'changed';
      },
    });
    expect(readAcquireOptions(options, defaults).waitMs).toBe(5);
    expect(reads).toBe(1);
  });
});

describe('options of inspect and break', () => {
  test('inspect trusts kernel locks only where told', () => {
    expect(readInspectOptions(undefined)).toEqual({ trustKernelLocks: false });
    expect(readInspectOptions({ trustKernelLocks: true })).toEqual({ trustKernelLocks: true });
  });

  test('break wants the token of a report', () => {
    expect(readBreakOptions({ token: 'abc' })).toEqual({ token: 'abc', trustKernelLocks: false });
    for (const options of [undefined, {}, { token: undefined }, { token: 5 }]) {
      expect(() => readBreakOptions(options)).toThrow(typeError('ERR_INVALID_ARG_TYPE'));
    }
    expect(() => readBreakOptions({ token: '' })).toThrow(typeError('ERR_INVALID_ARG_VALUE'));
  });
});
