// What the scripts share. Plain Node: this runs before anything is installed.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

const tty = process.stderr.isTTY === true && process.env.NO_COLOR === undefined;
const paint = (code, text) => (tty ? `\x1b[${code}m${text}\x1b[0m` : text);
export const say = (text) => process.stderr.write(`${paint('36', '›')} ${text}\n`);
export const fail = (text) => process.stderr.write(`${paint('31', '✗')} ${text}\n`);

export const onPath = (name) =>
  (process.env.PATH ?? '').split(delimiter).some((dir) => dir !== '' && existsSync(join(dir, name)));

/** Runs a program to its end; true when it exits 0. */
export function run(command, args, options = {}) {
  const result = spawnSync(command, args, {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32' && command === 'npm',
    ...options,
  });
  if (result.error) fail(`${command}: ${result.error.message}`);
  return result.status === 0;
}

/** The command line of a tool from node_modules, run by this very Node. */
export function tool(name, args, options = {}) {
  const folder = join(root, 'node_modules', name);
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const script = typeof bin === 'string' ? bin : (bin[name.split('/').at(-1)] ?? Object.values(bin)[0]);
  return run(process.execPath, [join(folder, script), ...args], options);
}

export function install() {
  const done = join(root, 'node_modules', '.package-lock.json');
  const lock = join(root, 'package-lock.json');
  if (existsSync(done) && statSync(done).mtimeMs >= statSync(lock).mtimeMs) return;
  say('Installing packages (once)');
  // Every package we use carries its binaries inside; none needs its install script. Not `npm ci`: it refuses a lock that
  // was made where the registry has the binaries of fewer platforms.
  if (!run('npm', ['install', '--ignore-scripts', '--loglevel=error', '--no-audit', '--no-fund'])) {
    fail('npm install failed. Is the npm registry reachable?');
    process.exit(1);
  }
}

export function build({ fresh = false } = {}) {
  if (!tool('typescript', ['-p', 'tsconfig.build.json'])) {
    fail('The build failed.');
    process.exit(1);
  }
  if (!run(process.execPath, [join(root, 'scripts', 'bundle.mjs'), ...(fresh ? ['--fresh'] : [])])) {
    fail('The bundle failed.');
    process.exit(1);
  }
  if (!run(process.execPath, [join(root, 'scripts', 'web.mjs')])) {
    fail('The build of the dashboard failed.');
    process.exit(1);
  }
}

/** Debian packages whose program is missing, as a list of package names. */
export function missingPackages(wanted) {
  return Object.entries(wanted)
    .filter(([, programs]) => !programs.some(onPath))
    .map(([name]) => name);
}

export function installPackages(wanted) {
  const missing = missingPackages(wanted);
  if (missing.length === 0) return;
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || !onPath('apt-get')) {
    say(`Not installed here, so their tests are skipped: ${missing.join(', ')}`);
    return;
  }
  say(`Installing system packages for the tests: ${missing.join(' ')}`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const quiet = { env, stdio: ['ignore', 'ignore', 'inherit'] };
  run('apt-get', ['update', '-qq'], quiet);
  if (!run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...missing], quiet)) {
    fail('Some system packages could not be installed; their tests will fail.');
  }
}
