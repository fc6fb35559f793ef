import { execFile } from 'node:child_process';
import { cpSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { codeOf } from '../helpers/doc-code.js';
import { programs, use } from '../helpers/installed-use.js';
import { packageRoot } from '../helpers/program.js';
import { usePublishedPackage } from '../helpers/published-package.js';
import { useTempDir } from '../helpers/temp-dir.js';

const run = promisify(execFile);

const temp = useTempDir();
const published = usePublishedPackage(temp);
const tools = path.join(packageRoot, 'node_modules');
const { platform, arch } = process;
const shipped = path.join(
  'prebuilds',
  `${platform}-${arch}`,
  `bucketlock${platform === 'linux' ? '.glibc' : ''}.node`,
);

let project = '';

beforeAll(async () => {
  project = await published.installed();
  for (const tool of ['esbuild', 'jest', 'webpack']) {
    symlinkSync(path.join(tools, tool), path.join(project, 'node_modules', tool), 'junction');
  }
});

/** Runs the commands of a document in the project, whose tools are this repository's. */
function shell(commands: string, env: NodeJS.ProcessEnv = {}) {
  return run('/bin/sh', ['-ec', commands], {
    cwd: project,
    env: {
      ...process.env,
      PATH: [path.join(tools, '.bin'), process.env['PATH']].join(path.delimiter),
      ...env,
    },
  });
}

const [esbuildToEsm = '', esbuildToCjs = ''] = codeOf('docs/bundlers.md', 'esbuild');
const [webpackToCjs = '', copyPrebuilds = '', webpackToEsm = ''] = codeOf(
  'docs/bundlers.md',
  'webpack',
);

/** Runs webpack as its command line tool does. */
async function webpack(config: string): Promise<string> {
  writeFileSync(path.join(project, 'webpack.config.cjs'), webpackToCjs);
  writeFileSync(path.join(project, 'webpack.chosen.cjs'), config);
  const runner = `require('webpack')(require('./webpack.chosen.cjs'), (error, stats) => {
    if (error) throw error;
    console.error(stats.toString({ all: false, errors: true, warnings: true }));
  });`;
  writeFileSync(path.join(project, 'webpack-runner.cjs'), runner);
  const { stderr } = await shell(`node webpack-runner.cjs\n${copyPrebuilds}`);
  return stderr;
}

const bundlers: readonly (readonly [string, string, () => Promise<string>])[] = [
  ['esbuild to an ES module', 'app.mjs', async () => (await shell(esbuildToEsm)).stderr],
  ['esbuild to CommonJS', 'app.cjs', async () => (await shell(esbuildToCjs)).stderr],
  ['webpack to CommonJS', 'app.cjs', () => webpack(webpackToCjs)],
  ['webpack to an ES module', 'app.mjs', () => webpack(webpackToEsm)],
];

describe.each(bundlers)('a bundle made as documented by %s', (_name, name, make) => {
  /** What is shipped, moved away from the project and its packages. */
  let folder = '';

  beforeAll(async () => {
    writeFileSync(path.join(project, 'app.js'), programs.import);
    expect(await make()).not.toMatch(/warning|error/i);
    folder = temp.directory('shipped');
    renameSync(path.join(project, 'out'), folder);
    expect(readdirSync(folder).sort()).toEqual([name, 'prebuilds']);
  });

  it('loads the addon from beside it, and from one folder above', async () => {
    const nested = path.join('nested', name);
    cpSync(path.join(folder, name), path.join(folder, nested));
    for (const bundle of [name, nested]) {
      await expect(use(folder, temp.directory(), bundle)).resolves.toEqual({
        locked: true,
        released: true,
        addon: shipped,
      });
    }
  });

  it('says where the addon has to lie, if it does not lie there', async () => {
    const elsewhere = temp.directory('elsewhere');
    cpSync(path.join(folder, name), path.join(elsewhere, name));
    await expect(use(elsewhere, temp.directory(), name)).rejects.toThrow(
      `'${path.join(elsewhere, shipped)}': not there. Install the package again, or lay its ` +
        'folder "prebuilds" beside the bundle',
    );
  });
});

describe('Jest, as documented', () => {
  const [vmModules = '', transform = '', config = ''] = codeOf('docs/bundlers.md', 'Jest');
  const claim = "'the lock is taken and released'";
  const body = `
    const held = await new BucketLock('orders').acquire();
    expect(await held.release()).toBe(true);`;
  const passed = /^Tests: +1 passed, 1 total$/m;

  it('imports the package in tests that are ES modules', async () => {
    const file = path.join(project, 'lock.test.mjs');
    writeFileSync(
      file,
      `import { BucketLock } from 'bucketlock';\ntest(${claim}, async () => {${body}});\n`,
    );
    const { stderr } = await shell(`${vmModules.trim()} --testMatch '**/*.test.mjs'`);
    expect(stderr).toMatch(passed);
  });

  it('requires the package in any test, through a transform of the package alone', async () => {
    writeFileSync(path.join(project, 'bucketlock-transform.cjs'), transform);
    writeFileSync(path.join(project, 'jest.config.cjs'), config);
    writeFileSync(
      path.join(project, 'lock.test.js'),
      `const { BucketLock } = require('bucketlock');\ntest(${claim}, async () => {${body}});\n`,
    );
    const { stderr } = await shell('jest lock.test.js');
    expect(stderr).toMatch(passed);
  });
});
