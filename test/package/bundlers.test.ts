import { execFile } from 'node:child_process';
import { cpSync, existsSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { codeOf } from '../helpers/doc-code.js';
import { programs, use } from '../helpers/installed-use.js';
import { packageRoot } from '../helpers/program.js';
import { usePublishedPackage } from '../helpers/published-package.js';
import { useTempDir } from '../helpers/temp-dir.js';
import { requirePresent, runtimeFile } from '../helpers/tools.js';

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
      `Tried '${path.join(elsewhere, shipped)}', ` +
        `'${path.join(path.dirname(elsewhere), shipped)}': not there. ` +
        'Install the package again, or lay its folder "prebuilds" beside the bundle',
    );
  });
});

it('a bundle shares its buckets’ locks with the package itself in one process', async () => {
  writeFileSync(path.join(project, 'app.js'), `export * from 'bucketlock';\n`);
  await shell(esbuildToEsm);
  const bucket = temp.directory();
  writeFileSync(
    path.join(project, 'both.mjs'),
    `import * as bundled from './out/app.mjs';
    import * as installed from 'bucketlock';
    const bucket = ${JSON.stringify(bucket)};
    await bundled.acquireLock(bucket);
    const seen = installed.inspectLockSync(bucket).thisProcess;
    const released = await installed.releaseLock(bucket);
    console.log(JSON.stringify({ two: bundled.BucketLock !== installed.BucketLock, seen, released }));`,
  );
  const external = 'esbuild both.mjs --bundle --platform=node --format=esm --external:bucketlock';
  const { stdout } = await shell(`${external} --outfile=out/both.mjs >&2\nnode out/both.mjs`);
  expect(JSON.parse(stdout)).toEqual({ two: true, seen: true, released: true });
});

describe('Jest, as documented', () => {
  const [vmModules = '', transform = '', config = ''] = codeOf('docs/bundlers.md', 'Jest');
  const claim = "'the lock is taken and released'";
  const body = `
    const held = await new BucketLock('orders').acquire();
    expect(await held.release()).toBe(true);`;
  const requiring = `const { BucketLock } = require('bucketlock');\ntest(${claim}, async () => {${body}});\n`;
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

  it('requires the package, too, with Node.js 24', async (context) => {
    const node = runtimeFile('node-24', 'node');
    requirePresent(context, node, existsSync(node));
    writeFileSync(path.join(project, 'lock.test.cjs'), requiring);
    const command = vmModules.trim().replace(/^node /, `'${node}' `);
    const { stderr } = await shell(`${command} --testMatch '**/*.test.cjs'`);
    expect(stderr).toMatch(passed);
  });

  it('requires the package in any test, through a transform of the package alone', async () => {
    writeFileSync(path.join(project, 'bucketlock-transform.cjs'), transform);
    writeFileSync(path.join(project, 'jest.config.cjs'), config);
    writeFileSync(path.join(project, 'lock.test.js'), requiring);
    const { stderr } = await shell('jest lock.test.js');
    expect(stderr).toMatch(passed);
  });
});
