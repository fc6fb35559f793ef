import { closeSync, openSync } from 'node:fs';

import { readAt, readElfHeader } from './elf-header.js';

/** The C libraries that binaries are shipped for. */
export type Libc = 'glibc' | 'musl';

/**
 * The C library of this process on Linux; undefined where nothing tells it. The executable names
 * its dynamic loader in its first bytes; the report, which knows as well, takes forty times as
 * long in Node.js.
 */
export function currentLibc(): Libc | undefined {
  return libcOfExecutable(process.execPath) ?? libcOfReport();
}

/** Told by the dynamic loader that an executable asks for; undefined where it names neither. */
export function libcOfExecutable(path: string): Libc | undefined {
  const interpreter = interpreterOf(path);
  if (interpreter === undefined) return undefined;
  const name = interpreter.slice(interpreter.lastIndexOf('/') + 1);
  if (name.startsWith('ld-musl-')) return 'musl';
  return name.startsWith('ld-linux') ? 'glibc' : undefined;
}

const PROGRAM_HEADER_BYTES = 56;
const PT_INTERP = 3;
const PATH_BYTES = 4096;

function interpreterOf(path: string): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const header = readElfHeader(file);
    if (header === undefined) return undefined;
    const headersAt = Number(header.readBigUInt64LE(32));
    const headers = readAt(file, headersAt, header.readUInt16LE(56) * PROGRAM_HEADER_BYTES);
    for (let at = 0; at < headers.length; at += PROGRAM_HEADER_BYTES) {
      if (headers.readUInt32LE(at) !== PT_INTERP) continue;
      const size = Math.min(Number(headers.readBigUInt64LE(at + 32)), PATH_BYTES);
      const text = readAt(file, Number(headers.readBigUInt64LE(at + 8)), size).toString('latin1');
      return text.split('\0')[0];
    }
    return undefined;
  } catch {
    // Gone, unreadable, cut short, or forbidden by the runtime: then the report has to tell.
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** A glibc process says its version. A report that does not comes from musl. */
function libcOfReport(): Libc | undefined {
  try {
    const { report } = process as { report?: typeof process.report & { excludeNetwork?: boolean } };
    if (report === undefined) return undefined;
    const before = report.excludeNetwork;
    try {
      // It would look up the names of the hosts that the process is connected to.
      report.excludeNetwork = true;
      const { header } = report.getReport() as { header?: { glibcVersionRuntime?: string } };
      if (header === undefined) return undefined;
      return header.glibcVersionRuntime === undefined ? 'musl' : 'glibc';
    } finally {
      report.excludeNetwork = before ?? false;
    }
  } catch {
    // Forbidden by the runtime.
    return undefined;
  }
}
