import { blake2b } from '@noble/hashes/blake2.js';

/** BLAKE2b (RFC 7693) without a key, made for `length` bytes: not the beginning of a longer one. */
export function blake2bOf(bytes: Uint8Array, length: number): Uint8Array {
  return blake2b(bytes, { dkLen: length });
}
