import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { programs, use } from '../helpers/installed-use.js';
import { packageRoot } from '../helpers/program.js';
import { usePublishedPackage } from '../helpers/published-package.js';
import { useTempDir } from '../helpers/temp-dir.js';

const run = promisify(execFile);

const temp = useTempDir();
const published = usePublishedPackage(temp);

describe('the published package', () => {
  it('holds the built files, the binaries and the documents, and nothing else', async () => {
    const tarball = path.join(temp.directory('tarball'), 'package.tgz');
    writeFileSync(tarball, published.registry.published('bucketlock').tarball);
    const { stdout } = await run('tar', ['-tzf', tarball]);
    const files = stdout.split('\n').filter(Boolean);

    const modules = readdirSync(path.join(packageRoot, 'lib'), { encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => path.basename(file, '.ts'));
    const manifest = JSON.parse(
      readFileSync(path.join(packageRoot, 'prebuilds', 'manifest.json'), 'utf8'),
    ) as Record<string, { file: string }>;
    const expected = [
      ...['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json', 'prebuilds/manifest.json'],
      ...['cli.js', 'index.js', 'shared.js', 'LICENSE-noble-hashes'].map((name) => `dist/${name}`),
      ...modules.map((name) => `dist/${name}.d.ts`),
      ...Object.values(manifest).map(({ file }) => file),
      ...readdirSync(path.join(packageRoot, 'docs'), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => path.relative(packageRoot, path.join(parentPath, name))),
    ];
    expect(files.sort()).toEqual(expected.map((file) => `package/${file}`).sort());
  });

  it('holds all that its documents link to', async () => {
    const installed = path.join(await published.installed(), 'node_modules', 'bucketlock');
    const documents = readdirSync(installed, { encoding: 'utf8', recursive: true }).filter((name) =>
      name.endsWith('.md'),
    );
    expect(documents).toContain('README.md');
    for (const document of documents) {
      const text = readFileSync(path.join(installed, document), 'utf8');
      for (const [, link = ''] of text.matchAll(/\]\((?!https?:|#)([^)\s#]+)/g)) {
        const target = path.join(installed, path.dirname(document), link);
        expect(existsSync(target), `${document}: ${link}`).toBe(true);
      }
    }
  });

  it('is published without a script that runs at the user’s, and without dependencies', () => {
    const { version } = published.registry.published('bucketlock');
    expect(version.scripts).not.toHaveProperty('preinstall');
    expect(version.scripts).not.toHaveProperty('install');
    expect(version.scripts).not.toHaveProperty('postinstall');
    expect(version.gypfile).toBe(false);
    expect(version).not.toHaveProperty('dependencies');
    expect(version).not.toHaveProperty('optionalDependencies');
  });

  it('has a command line tool that runs where it was installed', async () => {
    const tool = path.join(await published.installed(), 'node_modules', '.bin', 'bucketlock');
    const { stdout } = await run(tool, ['run', temp.directory(), '--', 'echo', 'under the lock']);
    expect(stdout).toBe('under the lock\n');
  });
});

describe.each(published.managers)('$name', (manager) => {
  it.each(['allowed', 'disabled'] as const)(
    'installs, and installs again from the lockfile, without a build or a script: scripts %s',
    async (scripts) => {
      const project = published.project();
      const installed = path.join(project, 'node_modules', 'bucketlock');
      await manager.add(project, 'bucketlock', scripts);
      for (const again of [false, true]) {
        if (again) {
          rmSync(path.join(installed, 'prebuilds'), { recursive: true });
          await manager.installAgain(project, scripts);
        }
        // pnpm makes a folder for commands.
        const names = readdirSync(installed).filter((name) => name !== 'node_modules');
        expect(names.sort()).toEqual([
          'CHANGELOG.md',
          'LICENSE',
          'README.md',
          'dist',
          'docs',
          'package.json',
          'prebuilds',
        ]);
        for (const [type, program] of [
          ['module', programs.import],
          ['commonjs', programs.require],
        ] as const) {
          const args = [`--input-type=${type}`, '--eval', program];
          const { locked, released, addon } = await use(project, temp.directory(), ...args);
          expect({ locked, released }).toEqual({ locked: true, released: true });
          expect(addon).toMatch(/^node_modules\b.*\bbucketlock.prebuilds\b.*\.node$/);
        }
      }
      expect(published.builds()).toEqual([]);
    },
  );

  it('would be noticed if it built: a package with binding.gyp at its root is', async () => {
    const addon = temp.directory('addon');
    const name = `addon-by-${manager.name}`;
    mkdirSync(addon, { recursive: true });
    writeFileSync(path.join(addon, 'package.json'), JSON.stringify({ name, version: '1.0.0' }));
    writeFileSync(path.join(addon, 'binding.gyp'), '{"targets":[]}');
    await published.npm(addon, 'publish', '--ignore-scripts');
    published.forgetBuilds();

    const project = published.project();
    await expect(manager.add(project, name, 'allowed')).rejects.toThrow();
    expect(published.builds()).toContainEqual(expect.stringMatching(/^script-shell .*node-gyp/));
    expect(published.builds()).toContainEqual(expect.stringMatching(/^(python3?|node-gyp) /));
  });
});
