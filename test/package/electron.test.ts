import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { codeOf } from '../helpers/doc-code.js';
import { packageRoot } from '../helpers/program.js';
import { usePublishedPackage } from '../helpers/published-package.js';
import { useTempDir } from '../helpers/temp-dir.js';

const run = promisify(execFile);

const temp = useTempDir();
const published = usePublishedPackage(temp);

const manifest = JSON.parse(
  readFileSync(path.join(packageRoot, 'prebuilds', 'manifest.json'), 'utf8'),
) as Record<string, { file: string }>;

describe('what docs/electron.md says of the binaries', () => {
  it.each(Object.values(manifest))('holds of $file: no external buffers', ({ file }) => {
    const binary = readFileSync(path.join(packageRoot, file), 'latin1');
    // The names of what it takes from Node.js.
    expect(binary).toContain('napi_create_promise');
    expect(binary).not.toMatch(/napi_create_external_(array)?buffer|node_api_create_external_/);
  });
});

// The little that the example needs of Electron.
const electron = `
  export const app = {
    name: 'Orders',
    getVersion: () => '1.2.3',
    getPath: () => process.env.USER_DATA,
    exit: (status) => process.exit(status),
  };
  export const dialog = { showErrorBox: (title, content) => console.error(title + '\\n' + content) };
`;

describe('the single instance of docs/electron.md', () => {
  let project = '';

  beforeAll(async () => {
    project = await published.installed();
    const folder = path.join(project, 'node_modules', 'electron');
    mkdirSync(folder);
    writeFileSync(path.join(folder, 'package.json'), '{"type":"module","exports":"./index.js"}');
    writeFileSync(path.join(folder, 'index.js'), electron);
  });

  it('runs once, says who runs already, and runs again after a death', async () => {
    const [example = ''] = codeOf('docs/electron.md', 'A single instance, and who it is');
    const application = path.join(project, 'main.mjs');
    writeFileSync(application, `${example}\nconsole.log('runs');\n`);
    const hanging = path.join(project, 'hanging.mjs');
    writeFileSync(hanging, `${example}\nconsole.log('runs');\nsetInterval(() => {}, 1_000);\n`);
    const env = { ...process.env, USER_DATA: temp.directory('user-data') };

    const first = run(process.execPath, [hanging], { env });
    const { child } = first;
    const ended = first.catch((error: unknown) => error);
    onTestFinished(() => {
      child.kill('SIGKILL');
    });
    await new Promise((resolve) => child.stdout?.once('data', resolve));
    const said = `Orders is already running\nOrders 1.2.3 (process ${child.pid ?? 0}) has used this data`;
    await expect(run(process.execPath, [application], { env })).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(said) as string,
    });

    child.kill('SIGKILL');
    await expect(ended).resolves.toMatchObject({ signal: 'SIGKILL' });
    await expect(run(process.execPath, [application], { env })).resolves.toMatchObject({
      stdout: 'runs\n',
    });
  });
});
