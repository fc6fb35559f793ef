import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { publint } from 'publint';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { LocalRegistry } from '../helpers/local-registry.js';
import { packageRoot } from '../helpers/program.js';
import { useTempDir } from '../helpers/temp-dir.js';

const run = promisify(execFile);

// Everything a build of an addon goes through. Each notes that it was called, and fails.
const buildTools = ['c++', 'cc', 'g++', 'gcc', 'make', 'node-gyp', 'python', 'python3'];

describe('the published package', () => {
  const temp = useTempDir();
  const registry = new LocalRegistry();
  let buildLog = '';
  let environment: NodeJS.ProcessEnv = {};

  function npm(cwd: string, ...args: string[]) {
    return run('npm', args, { cwd, env: environment });
  }

  /** With scripts on, whatever the version of npm makes of them by default. */
  function npmInstall(cwd: string, ...args: string[]) {
    return npm(cwd, ...args, '--dangerously-allow-all-scripts', '--no-audit', '--no-fund');
  }

  function project(): string {
    const folder = temp.directory('project');
    writeFileSync(path.join(folder, 'package.json'), '{"name":"project","private":true}');
    return folder;
  }

  function buildCalls(): string[] {
    return existsSync(buildLog) ? readFileSync(buildLog, 'utf8').split('\n').filter(Boolean) : [];
  }

  beforeAll(async () => {
    await registry.start();
    const tools = temp.directory('build-tools');
    buildLog = path.join(tools, 'called.log');
    for (const tool of buildTools) {
      const script = `#!/bin/sh\necho "${tool} $*" >>'${buildLog}'\nexit 1\n`;
      writeFileSync(path.join(tools, tool), script, { mode: 0o755 });
    }
    const config = path.join(tools, 'npmrc');
    writeFileSync(config, `registry=${registry.url}\n${registry.url.slice(5)}:_authToken=none\n`);
    environment = {
      // npm hands its own settings down in the environment when it runs the tests.
      ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name))),
      PATH: [tools, process.env['PATH']].join(path.delimiter),
      NO_PROXY: '127.0.0.1',
      npm_config_cache: path.join(tools, 'cache'),
      npm_config_update_notifier: 'false',
      npm_config_userconfig: config,
    };
    await npm(packageRoot, 'publish', '--ignore-scripts');
  });

  beforeEach(() => {
    rmSync(buildLog, { force: true });
  });

  afterAll(() => registry.stop());

  it('holds the built files, the binaries and the documents, and nothing else', async () => {
    const tarball = path.join(temp.directory('tarball'), 'package.tgz');
    writeFileSync(tarball, registry.published('bucketlock').tarball);
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
      ...['cli', 'index', 'shared'].map((name) => `dist/${name}.js`),
      ...modules.map((name) => `dist/${name}.d.ts`),
      ...Object.values(manifest).map(({ file }) => file),
    ];
    expect(files.sort()).toEqual(expected.map((file) => `package/${file}`).sort());
  });

  it('is published without a script that runs at the user’s', () => {
    const { version } = registry.published('bucketlock');
    expect(version.scripts).not.toHaveProperty('preinstall');
    expect(version.scripts).not.toHaveProperty('install');
    expect(version.scripts).not.toHaveProperty('postinstall');
    expect(version.gypfile).toBe(false);
  });

  it('installs, and installs again from the lockfile, without building anything', async () => {
    const folder = project();
    await npmInstall(folder, 'install', 'bucketlock');
    await npmInstall(folder, 'ci');

    const installed = path.join(folder, 'node_modules', 'bucketlock');
    expect(readdirSync(installed).sort()).toEqual(
      ['CHANGELOG.md', 'LICENSE', 'README.md', 'dist', 'package.json', 'prebuilds'].sort(),
    );
    expect(buildCalls()).toEqual([]);
  });

  it('would be noticed if it built: a package with binding.gyp at its root is', async () => {
    const folder = project();
    const addon = path.join(folder, 'addon');
    mkdirSync(addon);
    writeFileSync(path.join(addon, 'package.json'), '{"name":"addon","version":"1.0.0"}');
    writeFileSync(path.join(addon, 'binding.gyp'), '{"targets":[]}');
    await npm(addon, 'publish');

    await expect(npmInstall(folder, 'install', 'addon')).rejects.toThrow(/node-gyp/);
    expect(buildCalls()).not.toEqual([]);
  });

  it('works by import and by require after an install without scripts', async () => {
    const folder = project();
    await npm(folder, 'install', 'bucketlock', '--ignore-scripts', '--no-audit', '--no-fund');
    const bucket = temp.directory();

    for (const program of [viaImport, viaRequire]) {
      const { stdout } = await run(process.execPath, [...program, bucket], { cwd: folder });
      const result = JSON.parse(stdout) as { locked: boolean; released: boolean; addon: string };
      expect(result).toMatchObject({ locked: true, released: true });
      expect(path.relative(folder, result.addon)).toMatch(
        /^node_modules.bucketlock.prebuilds.*\.node$/,
      );
    }
  });

  it('has a command line tool that runs where it was installed', async () => {
    const folder = project();
    await npm(folder, 'install', 'bucketlock', '--ignore-scripts', '--no-audit', '--no-fund');
    const tool = path.join(folder, 'node_modules', '.bin', 'bucketlock');
    const { stdout } = await run(tool, ['run', temp.directory(), '--', 'echo', 'under the lock']);
    expect(stdout).toBe('under the lock\n');
  });

  it('passes publint', async () => {
    const folder = project();
    await npm(folder, 'install', 'bucketlock', '--ignore-scripts', '--no-audit', '--no-fund');
    const pkgDir = path.join(folder, 'node_modules', 'bucketlock');
    const { messages } = await publint({ pkgDir, strict: true, pack: false });
    expect(messages).toEqual([]);
  });
});

const body = `
  const { existsSync } = process.getBuiltinModule('node:fs');
  const [bucket] = process.argv.slice(-1);
  const held = await new BucketLock(bucket).acquire();
  const locked = existsSync(lockPath(bucket));
  const released = await held.release();
  const addon = process.report.getReport().sharedObjects.find((file) => file.endsWith('.node'));
  console.log(JSON.stringify({ locked, released, addon }));
`;
const viaImport = [
  '--input-type=module',
  '--eval',
  `import { BucketLock, lockPath } from 'bucketlock'; ${body}`,
];
const viaRequire = [
  '--input-type=commonjs',
  '--eval',
  `const { BucketLock, lockPath } = require('bucketlock'); (async () => { ${body} })();`,
];
