import { readSync } from 'node:fs';

// The layout of a 64-bit little-endian ELF file, which all systems with a binary for Linux have.
const ELF_64_LITTLE_ENDIAN = Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1]);
const FILE_HEADER_BYTES = 64;

/** The header of an open ELF file, whole; undefined for anything else. */
export function readElfHeader(file: number): Buffer | undefined {
  const header = readAt(file, 0, FILE_HEADER_BYTES);
  const isElf = header.length === FILE_HEADER_BYTES && header.indexOf(ELF_64_LITTLE_ENDIAN) === 0;
  return isElf ? header : undefined;
}

/** Fewer bytes where the file ends before. */
export function readAt(file: number, position: number, size: number): Buffer {
  const bytes = Buffer.alloc(size);
  return bytes.subarray(0, readSync(file, bytes, 0, size, position));
}
