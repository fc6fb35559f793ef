import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { expect, test } from 'vitest';

import { packageRoot } from '../helpers/program.js';
import { requireTool } from '../helpers/tools.js';
import type { Tool } from '../helpers/tools.js';

/** Longer than the compiler needs to make its C++ library first, on a busy machine. */
const LONGEST_BUILD_MS = 15 * 60_000;

const MACHO_64 = 0xfeedfacf;
const MACHO_X64 = 0x01000007;
const MACHO_ARM64 = 0x0100000c;
const MACHO_LOAD_DYLIB = 0xc;
const PE_X64 = 0x8664;
const PE_ARM64 = 0xaa64;

/** What a binary is for, and the libraries without which it does not load. */
interface Binary {
  readonly cpu: number;
  readonly needs: readonly string[];
}

/** Part of the system, each of them. */
const WINDOWS_LIBRARIES = /^(api-ms-win-crt-.*|bcrypt|kernel32|msvcrt|ntdll|advapi32)\.dll$/i;
const MACOS_LIBRARIES = /^\/usr\/lib\/libSystem\.B\.dylib$/;

const targets = [
  { target: 'darwin-arm64', tool: 'ziglang', cpu: MACHO_ARM64, allowed: MACOS_LIBRARIES },
  { target: 'darwin-x64', tool: 'ziglang', cpu: MACHO_X64, allowed: MACOS_LIBRARIES },
  { target: 'win32-arm64', tool: 'ziglang', cpu: PE_ARM64, allowed: WINDOWS_LIBRARIES },
  { target: 'win32-x64', tool: 'mingw', cpu: PE_X64, allowed: WINDOWS_LIBRARIES },
] as const satisfies readonly { readonly tool: Tool; readonly [key: string]: unknown }[];

function textAt(binary: Buffer, offset: number): string {
  return binary.toString('latin1', offset, binary.indexOf(0, offset));
}

function readMachO(binary: Buffer): Binary {
  const needs: string[] = [];
  const commands = binary.readUInt32LE(16);
  for (let index = 0, at = 32; index < commands; index += 1) {
    if (binary.readUInt32LE(at) === MACHO_LOAD_DYLIB) {
      needs.push(textAt(binary, at + binary.readUInt32LE(at + 8)));
    }
    at += binary.readUInt32LE(at + 4);
  }
  return { cpu: binary.readUInt32LE(4), needs };
}

function readPe(binary: Buffer): Binary {
  const header = binary.readUInt32LE(0x3c);
  const sections = header + 24 + binary.readUInt16LE(header + 20);
  const offsetOf = (address: number): number => {
    for (let at = sections; ; at += 40) {
      const start = binary.readUInt32LE(at + 12);
      if (address >= start && address < start + binary.readUInt32LE(at + 16)) {
        return address - start + binary.readUInt32LE(at + 20);
      }
    }
  };
  const needs: string[] = [];
  // The second data directory lists the imports, 20 bytes for each library, up to one without a name.
  let at = offsetOf(binary.readUInt32LE(header + 24 + 112 + 8));
  for (let name = binary.readUInt32LE(at + 12); name !== 0; name = binary.readUInt32LE(at + 12)) {
    needs.push(textAt(binary, offsetOf(name)));
    at += 20;
  }
  return { cpu: binary.readUInt16LE(header + 4), needs };
}

// Compiled and linked, and not run: only the one for Windows on x64 is, by the tests under test/windows.
test.for(targets)(
  'the addon compiles for $target without a warning, and needs nothing but the system',
  { timeout: LONGEST_BUILD_MS },
  async ({ target, tool, cpu, allowed }, context) => {
    requireTool(context, tool);
    const script = join(packageRoot, '.ci', 'cross-build.mjs');
    const { stdout } = await promisify(execFile)(process.execPath, [script, target]);
    const binary = readFileSync(stdout.trim());
    const found = binary.readUInt32LE(0) === MACHO_64 ? readMachO(binary) : readPe(binary);
    expect(found.cpu).toBe(cpu);
    expect(binary.includes('napi_register_module_v1')).toBe(true);
    // Not node.exe either: the program that loads it may have another name.
    expect(found.needs.filter((library) => !allowed.test(library))).toEqual([]);
    expect(found.needs).not.toEqual([]);
  },
);
