import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { describeBinary } from '../helpers/binaries.js';
import type { Binary, ElfBinary, MachOBinary, PeBinary } from '../helpers/binaries.js';
import { prebuilds } from '../helpers/prebuilds.js';
import { packageRoot } from '../helpers/program.js';
import { requireTool } from '../helpers/tools.js';

interface NodeApi {
  readonly js_native_api_symbols: readonly string[];
  readonly node_api_symbols: readonly string[];
}

// As Node-API 8 has them: Node 12.22 and everything newer.
const { symbols } = createRequire(import.meta.url)('node-api-headers') as {
  symbols: Record<'v8', NodeApi>;
};
const nodeApi = new Set([...symbols.v8.js_native_api_symbols, ...symbols.v8.node_api_symbols]);
const entryPoints = ['napi_register_module_v1', 'node_api_module_get_api_version_v1'];

function targets(platform: string): [string, string][] {
  return Object.entries(prebuilds)
    .filter(([target]) => target.startsWith(`${platform}-`))
    .map(([target, { file }]) => [target, path.join(packageRoot, file)]);
}

function read<Format extends Binary>(file: string, format: Format['format']): Format {
  const binary = describeBinary(file);
  expect(binary.format).toBe(format);
  return binary as Format;
}

function isOfNodeApi(symbol: string): boolean {
  return /^(napi_|node_api_)/.test(symbol);
}

function expectHardened({ hardening, leftOver }: Binary): void {
  expect(Object.entries(hardening).filter(([, isSo]) => !isSo)).toEqual([]);
  expect(leftOver).toEqual([]);
}

beforeEach((context) => {
  requireTool(context, 'lief');
});

describe.each(targets('linux'))('%s', (target, file) => {
  const cpu = target.startsWith('linux-x64') ? 'X86_64' : 'AARCH64';
  const isMusl = target.endsWith('-musl');
  const binary = (): ElfBinary => read<ElfBinary>(file, 'ELF');

  it('is hardened, stripped, and exports the entry points alone', () => {
    const found = binary();
    expect(found.cpu).toBe(cpu);
    expectHardened(found);
    expect([...found.exports].sort()).toEqual(entryPoints);
  });

  it('needs one C library, as old as promised, and Node-API', () => {
    const { imports, libraries, versions } = binary();
    const glibc = /^(lib(c|m|dl|pthread)\.so\.\d|ld-linux-(x86-64|aarch64)\.so\.\d)$/;
    expect(libraries.filter((library) => !(isMusl ? /^libc\.so$/ : glibc).test(library))).toEqual(
      [],
    );
    expect(libraries).toContain(isMusl ? 'libc.so' : 'libc.so.6');
    expect(imports.filter(isOfNodeApi).filter((symbol) => !nodeApi.has(symbol))).toEqual([]);
    expect(imports.filter(isOfNodeApi)).toContain('napi_create_function');
    // No C++ library's, which would be the user's or Node's own.
    expect(imports.filter((symbol) => symbol.startsWith('_Z'))).toEqual([]);
    expect(imports).toContain('__stack_chk_fail');
    if (isMusl) {
      expect(versions).toEqual([]);
      // Fortified calls are glibc's own.
      expect(imports.filter((symbol) => symbol.endsWith('_chk'))).toEqual([]);
      return;
    }
    expect(imports).toContain('__openat_2');
    const minors = versions.map((version) => /^GLIBC_2\.(\d+)(?:\.\d+)?$/.exec(version)?.[1]);
    expect(minors).not.toContain(undefined);
    expect(Math.max(...minors.map(Number))).toBeLessThanOrEqual(17);
  });
});

describe.each(targets('darwin'))('%s', (target, file) => {
  const cpu = target === 'darwin-x64' ? 'X86_64' : 'ARM64';
  const binary = (): MachOBinary => read<MachOBinary>(file, 'MACHO');

  it('is hardened, stripped, and exports the entry points alone', () => {
    const found = binary();
    expect(found.cpu).toBe(cpu);
    expectHardened(found);
    // The last two are the linker's, for the file's own header.
    expect([...found.exports].sort()).toEqual(
      ['___dso_handle', '__mh_dylib_header', ...entryPoints.map((name) => `_${name}`)].sort(),
    );
  });

  it('is for macOS 11 and newer, and signed where that is a condition for loading', () => {
    const { platform, minimumSystem, isSigned, installName } = binary();
    expect({ platform, minimumSystem }).toEqual({ platform: 'MACOS', minimumSystem: '11.0' });
    expect(installName).toEqual(['@rpath/bucketlock.node']);
    if (cpu === 'ARM64') expect(isSigned).toBe(true);
  });

  it('needs the system library and Node-API', () => {
    const { imports, libraries } = binary();
    expect(libraries).toEqual(['/usr/lib/libSystem.B.dylib']);
    const fromNode = imports.map((symbol) => symbol.replace(/^_/, '')).filter(isOfNodeApi);
    expect(fromNode.filter((symbol) => !nodeApi.has(symbol))).toEqual([]);
    expect(fromNode).toContain('napi_create_function');
    expect(imports.filter((symbol) => symbol.startsWith('__Z'))).toEqual([]);
    expect(imports).toContain('___stack_chk_fail');
  });
});

describe.each(targets('win32'))('%s', (target, file) => {
  const cpu = target === 'win32-x64' ? 'AMD64' : 'ARM64';
  const binary = (): PeBinary => read<PeBinary>(file, 'PE');

  it('is hardened, stripped, and exports the entry points alone', () => {
    const found = binary();
    expect(found.cpu).toBe(cpu);
    expectHardened(found);
    expect([...found.exports].sort()).toEqual(entryPoints);
  });

  it('needs the system, and Node-API of a program of whatever name', () => {
    const { imports, libraries, delayedLibraries, systemImports, minimumSystem } = binary();
    const system = /^(api-ms-win-crt-[a-z]+-l1-1-0|advapi32|bcrypt|kernel32|ntdll)\.dll$/i;
    expect(libraries.filter((library) => !system.test(library))).toEqual([]);
    expect(delayedLibraries).toEqual(['node.exe']);
    expect(imports.filter((symbol) => !nodeApi.has(symbol))).toEqual([]);
    expect(imports).toContain('napi_create_function');
    expect(systemImports.filter(isOfNodeApi)).toEqual([]);
    const [major, minor] = minimumSystem.split('.').map(Number);
    expect([major, minor]).toEqual([6, 0]);
  });
});

it.each(Object.entries(prebuilds))('%s names no folder of a machine', (_target, { file }) => {
  const text = readFileSync(path.join(packageRoot, file), 'latin1');
  const folders = text.match(
    /[\w./-]*(?:\/(?:home|root|tmp|usr\/(?!lib)|work)\/|node_modules|site-packages|\.cache)[\w./-]*/g,
  );
  expect(folders ?? []).toEqual([]);
});
