import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

interface Described {
  readonly cpu: string;
  readonly exports: readonly string[];
  /** Undefined symbols; on Windows those of libraries that load late. */
  readonly imports: readonly string[];
  readonly libraries: readonly string[];
  /** Each of them has to be true. */
  readonly hardening: Readonly<Record<string, boolean>>;
  /** Symbols, sections and entries that a stripped binary has no use for. */
  readonly leftOver: readonly string[];
}

export interface ElfBinary extends Described {
  readonly format: 'ELF';
  /** Versions of the C library's symbols, such as `GLIBC_2.17`. */
  readonly versions: readonly string[];
}

export interface MachOBinary extends Described {
  readonly format: 'MACHO';
  readonly minimumSystem: string;
  readonly platform: string;
  readonly isSigned: boolean;
  readonly installName: readonly string[];
}

export interface PeBinary extends Described {
  readonly format: 'PE';
  readonly minimumSystem: string;
  readonly delayedLibraries: readonly string[];
  readonly systemImports: readonly string[];
}

export type Binary = ElfBinary | MachOBinary | PeBinary;

/** What LIEF reads in a file that a system would load. */
export function describeBinary(file: string): Binary {
  const script = fileURLToPath(new URL('describe-binary.py', import.meta.url));
  return JSON.parse(execFileSync('python3', [script, file], { encoding: 'utf8' })) as Binary;
}
