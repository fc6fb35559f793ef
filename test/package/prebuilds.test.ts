import { execFile, execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { currentOrigins, prebuilds, sha256Of } from '../helpers/prebuilds.js';
import { packageRoot } from '../helpers/program.js';
import { useTempDir } from '../helpers/temp-dir.js';

const files = Object.values(prebuilds).map(({ file }) => file);
const hostFolder = `prebuilds/${process.platform}-${process.arch}`;
const temp = useTempDir();

function shippedFiles(): string[] {
  return readdirSync(path.join(packageRoot, 'prebuilds'), { recursive: true, encoding: 'utf8' })
    .map((file) => `prebuilds/${file.split(path.sep).join('/')}`)
    .filter((file) => statSync(path.join(packageRoot, file)).isFile());
}

describe('prebuilds', () => {
  it('are there for eight targets', () => {
    expect(Object.keys(prebuilds)).toEqual([
      ...['darwin-arm64', 'darwin-x64'],
      ...['linux-arm64-glibc', 'linux-arm64-musl', 'linux-x64-glibc', 'linux-x64-musl'],
      ...['win32-arm64', 'win32-x64'],
    ]);
  });

  it('were made from native sources, flags and compilers as they are now', () => {
    const recorded = Object.entries(prebuilds).map(([target, { file, sources, recipe }]) => [
      target,
      { file, sources, recipe },
    ]);
    expect(Object.fromEntries(recorded), 'run `npm run prebuilds` and commit').toEqual(
      currentOrigins(),
    );
  });

  it('are the files that the manifest names by their digests, and no others', () => {
    expect(shippedFiles().sort()).toEqual([...files, 'prebuilds/manifest.json'].sort());
    for (const { file, sha256 } of Object.values(prebuilds)) {
      expect(sha256Of(path.join(packageRoot, file)), file).toBe(sha256);
    }
  });

  it('take less than 1.5 MB together, and less than 250 kB each', () => {
    const sizes = files.map((file) => statSync(path.join(packageRoot, file)).size);
    expect(Math.max(...sizes)).toBeLessThan(250_000);
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(1_500_000);
  });

  it('are named as prebuildify names what it builds on a system itself', async () => {
    const project = temp.directory('project');
    const output = path.join('build', 'Release', 'bucketlock.node');
    const build = `mkdir -p ${path.dirname(output)} && touch ${output}`;
    // prebuildify gives names; what it names does not matter.
    const nodeGyp = path.join(project, 'node-gyp');
    writeFileSync(nodeGyp, `#!/bin/sh\n${build}\n`, { mode: 0o755 });
    writeFileSync(path.join(project, 'package.json'), '{"name":"bucketlock"}');
    const prebuildify = createRequire(import.meta.url).resolve('prebuildify/bin.js');
    for (const target of Object.keys(prebuilds)) {
      const [platform, arch, libc] = target.split('-');
      const args = ['--napi', '--cwd', project, '--node-gyp', nodeGyp];
      args.push('--target', process.version, '--platform', platform ?? '', '--arch', arch ?? '');
      if (libc !== undefined) args.push('--tag-libc', libc);
      await promisify(execFile)(process.execPath, [prebuildify, ...args]);
    }
    const named = readdirSync(path.join(project, 'prebuilds'), {
      recursive: true,
      encoding: 'utf8',
    }).filter((file) => file.endsWith('.node'));
    expect(named.map((file) => `prebuilds/${file}`).sort()).toEqual([...files].sort());
  });

  it('locks and releases with the shipped binary alone', (context) => {
    const shipped = files.some((file) => path.dirname(file) === hostFolder);
    context.skip(!shipped, `no binary is shipped for ${hostFolder}`);

    const bucket = temp.directory();
    const result = JSON.parse(
      execFileSync(process.execPath, ['--input-type=module', '--eval', program], {
        encoding: 'utf8',
        env: {
          ...process.env,
          PREBUILDS_ONLY: '1',
          MODULE: pathToFileURL(path.join(packageRoot, 'dist', 'index.js')).href,
          BUCKET: bucket,
        },
      }),
    ) as { addons: string[]; lockfilePid: string; released: boolean; pid: number };

    expect(result.addons.map((file) => path.dirname(path.relative(packageRoot, file)))).toEqual([
      path.normalize(hostFolder),
    ]);
    expect(result.lockfilePid).toBe(String(result.pid));
    expect(result.released).toBe(true);
    expect(readdirSync(bucket)).toEqual([]);
  });
});

describe('README.md', () => {
  const readme = readFileSync(path.join(packageRoot, 'README.md'), 'utf8');

  it('tells the size of each binary', () => {
    const told = Array.from(readme.matchAll(/`([a-z0-9]+-[a-z0-9-]+)` (\d+)\b/g), (match) => [
      match[1],
      Number(match[2]),
    ]);
    const sizes = Object.entries(prebuilds).map(([target, { file }]) => [
      target,
      Math.round(statSync(path.join(packageRoot, file)).size / 1000),
    ]);
    expect(Object.fromEntries(told), 'run `npm run prebuilds` and commit').toEqual(
      Object.fromEntries(sizes),
    );
  });

  it('tells the size of the package when it is unpacked', async () => {
    const told = /Unpacked the package takes (\d\.\d) MB/.exec(readme)?.[1];
    const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
    const { stdout } = await promisify(execFile)('npm', args, { cwd: packageRoot });
    const [packed] = JSON.parse(stdout) as [{ unpackedSize: number }];
    expect(Math.abs(Number(told) - packed.unpackedSize / 1_000_000)).toBeLessThan(0.1);
  });
});

const program = `
  import { readFileSync } from 'node:fs';
  const { BucketLock, lockPath } = await import(process.env.MODULE);
  const held = await new BucketLock(process.env.BUCKET).acquire();
  const lockfilePid = readFileSync(lockPath(process.env.BUCKET), 'utf8').split('\\n')[0].trim();
  const released = await held.release();
  const addons = process.report.getReport().sharedObjects.filter((file) => file.endsWith('.node'));
  console.log(JSON.stringify({ addons, lockfilePid, released, pid: process.pid }));
`;
