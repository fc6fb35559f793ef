import { execFile } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, beforeEach } from 'vitest';

import { LocalRegistry } from './local-registry.js';
import { packageRoot } from './program.js';
import type { TempDir } from './temp-dir.js';

const run = promisify(execFile);

const pnpm = path.join(packageRoot, 'node_modules', 'pnpm', 'bin', 'pnpm.cjs');

// Everything a build of an addon goes through. Each notes that it was called, and fails.
const BUILD_TOOLS = [
  ...['c++', 'cc', 'clang', 'clang++', 'g++', 'gcc', 'make', 'node-gyp', 'python', 'python3'],
  ...['node-gyp-build', 'prebuild-install', 'prebuildify'],
];

/** How a package manager installs into a project. */
export interface Manager {
  readonly name: string;
  /** Adds a package from the registry. */
  add(cwd: string, name: string, scripts: Scripts): Promise<unknown>;
  /** Installs what the lockfile says, as CI does. */
  installAgain(cwd: string, scripts: Scripts): Promise<unknown>;
}

/** Whether packages may run scripts: whatever the version of the manager makes of it by default. */
export type Scripts = 'allowed' | 'disabled';

const ALLOWED: Readonly<Record<'npm' | 'pnpm', Readonly<Record<Scripts, string>>>> = {
  npm: { allowed: '--dangerously-allow-all-scripts', disabled: '--ignore-scripts' },
  pnpm: { allowed: '--config.dangerouslyAllowAllBuilds=true', disabled: '--ignore-scripts' },
};

/**
 * The package as npm publishes it, in a registry of this test file's own, and projects that install
 * it on a machine without a compiler.
 */
export class PublishedPackage {
  readonly registry = new LocalRegistry();
  readonly #temp: TempDir;
  #log = '';
  #environment: NodeJS.ProcessEnv = {};
  #installed: Promise<string> | undefined;

  constructor(temp: TempDir) {
    this.#temp = temp;
  }

  async start(): Promise<void> {
    await this.registry.start();
    const tools = this.#temp.directory('build-tools');
    this.#log = path.join(tools, 'called.log');
    const script = (name: string, then: string) => {
      const file = path.join(tools, name);
      writeFileSync(file, `#!/bin/sh\necho "${name} $*" >>'${this.#log}'\n${then}\n`, {
        mode: 0o755,
      });
      return file;
    };
    for (const tool of BUILD_TOOLS) script(tool, 'exit 1');
    const { url } = this.registry;
    const config = path.join(tools, 'npmrc');
    writeFileSync(config, `registry=${url}\n${url.slice(5)}:_authToken=none\n`);
    this.#environment = {
      // npm hands its own settings down in the environment when it runs the tests.
      ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name))),
      // pnpm waits for an answer before it replaces a folder, unless this is CI.
      CI: 'true',
      PATH: [tools, process.env['PATH']].join(path.delimiter),
      NO_PROXY: '127.0.0.1',
      XDG_CACHE_HOME: path.join(tools, 'cache'),
      XDG_DATA_HOME: path.join(tools, 'data'),
      XDG_STATE_HOME: path.join(tools, 'state'),
      npm_config_cache: path.join(tools, 'npm-cache'),
      // Every lifecycle script goes through it, even one that a manager makes up.
      npm_config_script_shell: script('script-shell', 'exec /bin/sh "$@"'),
      npm_config_update_notifier: 'false',
      npm_config_userconfig: config,
    };
    // Provenance is to be had in a workflow only.
    await this.npm(packageRoot, 'publish', '--ignore-scripts', '--no-provenance');
  }

  /** An empty project. */
  project(): string {
    const folder = this.#temp.directory('project');
    writeFileSync(path.join(folder, 'package.json'), '{"name":"project","private":true}');
    return folder;
  }

  /** A project with the package in it, the same at each call. */
  installed(): Promise<string> {
    this.#installed ??= this.#install();
    return this.#installed;
  }

  async #install(): Promise<string> {
    const folder = this.project();
    await this.managers[0].add(folder, 'bucketlock', 'disabled');
    return folder;
  }

  npm(cwd: string, ...args: string[]) {
    return run('npm', args, { cwd, env: this.#environment });
  }

  readonly managers: readonly [Manager, Manager] = [
    {
      name: 'npm',
      add: (cwd, name, scripts) =>
        this.npm(cwd, 'install', name, ALLOWED.npm[scripts], '--no-audit', '--no-fund'),
      installAgain: (cwd, scripts) =>
        this.npm(cwd, 'ci', ALLOWED.npm[scripts], '--no-audit', '--no-fund'),
    },
    {
      name: 'pnpm',
      add: (cwd, name, scripts) => this.#pnpm(cwd, 'add', name, ALLOWED.pnpm[scripts]),
      installAgain: (cwd, scripts) => {
        rmSync(path.join(cwd, 'node_modules'), { recursive: true, force: true });
        return this.#pnpm(cwd, 'install', '--frozen-lockfile', ALLOWED.pnpm[scripts]);
      },
    },
  ];

  #pnpm(cwd: string, ...args: string[]) {
    return run(process.execPath, [pnpm, ...args], { cwd, env: this.#environment });
  }

  /** The build tools and lifecycle scripts that were run during this test. */
  builds(): string[] {
    return existsSync(this.#log) ? readFileSync(this.#log, 'utf8').split('\n').filter(Boolean) : [];
  }

  forgetBuilds(): void {
    rmSync(this.#log, { force: true });
  }
}

export function usePublishedPackage(temp: TempDir): PublishedPackage {
  const published = new PublishedPackage(temp);
  beforeAll(() => published.start());
  beforeEach(() => {
    published.forgetBuilds();
  });
  afterAll(() => published.registry.stop());
  return published;
}
