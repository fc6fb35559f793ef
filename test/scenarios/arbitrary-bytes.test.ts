import { Buffer } from 'node:buffer';

import fc from 'fast-check';
import { expect, test } from 'vitest';

import { useDriver } from '../helpers/driver.js';
import { leaveDeadRecord, writeLockfile } from '../helpers/records.js';
import type { RecordFields } from '../helpers/records.js';
import { isStress } from '../helpers/rounds.js';
import { useTempDir } from '../helpers/temp-dir.js';

const driver = useDriver();
const temp = useTempDir();

/** Bytes from nowhere, near misses of a PID, and a real record that was cut or had bytes changed. */
function lockfileBytes(real: RecordFields): fc.Arbitrary<Uint8Array> {
  const whole = Buffer.from(`${real.pid}\n${JSON.stringify(real)}\n`);
  const scratched = fc
    .array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 })
    .map((scratches) => {
      const bytes = Uint8Array.from(whole);
      for (const [offset, value] of scratches) bytes[offset] = value;
      return bytes;
    });
  const cut = fc
    .tuple(fc.nat(whole.length), fc.nat(whole.length))
    .map(([from, to]) => Uint8Array.from(whole.subarray(from, to)));
  const odd = ['', ' ', '\n', '\r\n', '\0', '-', '+', '0', '00', '0x', 'e3', '.5', '{"v":1}'];
  const nearPid = fc
    .tuple(fc.constantFrom(...odd), fc.bigInt(0n, 2n ** 66n), fc.constantFrom(...odd))
    .map(([before, pid, after]) => Buffer.from(`${before}${pid.toString()}${after}`));
  const altered = fc
    .tuple(fc.constantFrom(...Object.keys(real)), fc.jsonValue())
    .map(([key, value]) =>
      Buffer.from(`${real.pid}\n${JSON.stringify({ ...real, [key]: value })}\n`),
    );
  return fc.oneof(fc.uint8Array({ maxLength: 4096 }), scratched, cut, nearPid, altered);
}

/** The decimal numbers that the bytes contain. */
function numbersIn(bytes: Uint8Array): number[] {
  const digits = Buffer.from(bytes).toString('latin1').match(/\d+/g) ?? [];
  return digits.map(Number);
}

test('arbitrary bytes crash no judge and yield no PID that is not written there', async () => {
  const [judge] = await driver.pool(1);
  const bucket = temp.directory();
  const real = await leaveDeadRecord(driver, bucket);
  await fc.assert(
    fc.asyncProperty(lockfileBytes(real), fc.boolean(), async (bytes, sync) => {
      writeLockfile(bucket, bytes);
      const report = await judge.call(sync ? 'inspectSync' : 'inspect', { bucket });
      expect(['held', 'stale']).toContain(report.state);
      if (report.pid === undefined) return;
      expect(numbersIn(bytes)).toContain(report.pid);
      expect(report.pid).toBeGreaterThan(0);
      expect(report.pid).toBeLessThan(2 ** 32);
    }),
    { numRuns: isStress ? 20_000 : 1_000 },
  );
});
