import { closeSync, fstatSync, openSync } from 'node:fs';

import { readElfHeader } from './elf-header.js';

/**
 * Throws for a binary for Linux whose end is missing, as a full disk or an interrupted copy leaves
 * it: to load that would end the process by SIGBUS. The table of sections is the last thing in it.
 */
export function refuseCutOff(path: string): void {
  if (process.platform !== 'linux') return;
  const file = openSync(path, 'r');
  try {
    const header = readElfHeader(file);
    // Something else is refused by the system itself.
    if (header === undefined) return;
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
