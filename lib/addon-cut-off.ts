import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

// The layout of a 64-bit little-endian ELF file, which all binaries for Linux have.
const FILE_HEADER_BYTES = 64;
const MAGIC = Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1]);

/**
 * Throws for a binary for Linux whose end is missing, as a full disk or an interrupted copy leaves
 * it: to load that would end the process by SIGBUS. The table of sections is the last thing in it.
 */
export function refuseCutOff(path: string): void {
  if (process.platform !== 'linux') return;
  const file = openSync(path, 'r');
  try {
    const header = Buffer.alloc(FILE_HEADER_BYTES);
    const isWhole = readSync(file, header, 0, FILE_HEADER_BYTES, 0) === FILE_HEADER_BYTES;
    // Something else the loader refuses by itself.
    if (!isWhole || header.indexOf(MAGIC) !== 0) return;
    const sectionsAt = Number(header.readBigUInt64LE(40));
    const needed = sectionsAt + header.readUInt16LE(58) * header.readUInt16LE(60);
    const { size } = fstatSync(file);
    if (size < needed) {
      throw new Error(
        `it is cut off: ${String(size)} of at least ${String(needed)} bytes are there`,
      );
    }
  } finally {
    closeSync(file);
  }
}
