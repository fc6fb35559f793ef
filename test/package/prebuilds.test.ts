import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../helpers/program.js';
import { useTempDir } from '../helpers/temp-dir.js';

interface Prebuild {
  readonly file: string;
  readonly sha256: string;
  readonly sources: string;
}

const manifest = JSON.parse(
  readFileSync(path.join(packageRoot, 'prebuilds', 'manifest.json'), 'utf8'),
) as Record<string, Prebuild>;
const hostFolder = `prebuilds/${process.platform}-${process.arch}`;

describe('prebuilds', () => {
  const temp = useTempDir();

  it('ships a binary for Linux on x64 with glibc', () => {
    expect(manifest['linux-x64-glibc']?.file).toBe('prebuilds/linux-x64/bucketlock.glibc.node');
  });

  it.each(Object.entries(manifest))(
    'was built from the native sources as they are now: %s',
    (_target, { sources }) => {
      const digest = execFileSync(process.execPath, ['.ci/sources-digest.mjs'], {
        cwd: packageRoot,
        encoding: 'utf8',
      }).trim();
      expect(sources, 'run `npm run prebuilds` and commit prebuilds/').toBe(digest);
    },
  );

  it('lists every binary in the manifest by its digest, and no other', () => {
    const found = readdirSync(path.join(packageRoot, 'prebuilds'), {
      recursive: true,
      encoding: 'utf8',
    })
      .filter((file) => file.endsWith('.node'))
      .map((file) => `prebuilds/${file.split(path.sep).join('/')}`)
      .map((file) => [file, sha256(readFileSync(path.join(packageRoot, file)))]);
    const listed = Object.values(manifest).map(({ file, sha256 }) => [file, sha256]);
    expect(found.sort()).toEqual(listed.sort());
  });

  it('needs no newer glibc than 2.34', () => {
    const { file } = manifest['linux-x64-glibc'] ?? {};
    const binary = readFileSync(path.join(packageRoot, file ?? ''), 'latin1');
    const needed = Array.from(binary.matchAll(/GLIBC_2\.(\d+)/g), ([, minor]) => Number(minor));
    expect(needed).not.toEqual([]);
    expect(Math.max(...needed)).toBeLessThanOrEqual(34);
  });

  it('locks and releases with the shipped binary alone', (context) => {
    const shipped = Object.values(manifest).some(({ file }) => path.dirname(file) === hostFolder);
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

const program = `
  import { readFileSync } from 'node:fs';
  const { BucketLock, lockPath } = await import(process.env.MODULE);
  const held = await new BucketLock(process.env.BUCKET).acquire();
  const lockfilePid = readFileSync(lockPath(process.env.BUCKET), 'utf8').split('\\n')[0].trim();
  const released = await held.release();
  const addons = process.report.getReport().sharedObjects.filter((file) => file.endsWith('.node'));
  console.log(JSON.stringify({ addons, lockfilePid, released, pid: process.pid }));
`;

function sha256(data: Buffer): string {
  return createHash('sha256').update(data).digest('hex');
}
