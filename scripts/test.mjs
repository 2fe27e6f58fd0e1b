// Fresh clone to tested: npm test. Installs, builds, brings the system packages when it may, runs everything.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { staticCheckCount, staticChecks } from './check.mjs';
import { build, fail, install, installPackages, root, say, tool } from './lib.mjs';

/** Debian package → programs, any of which will do. */
const packages = {
  strace: ['strace'],
  tmux: ['tmux'],
  zsh: ['zsh'],
  fish: ['fish'],
  dash: ['dash'],
  tcsh: ['tcsh'],
  busybox: ['busybox'],
  vim: ['vim'],
  nano: ['nano'],
  less: ['less'],
  htop: ['htop'],
  mc: ['mc'],
  dialog: ['dialog'],
  fzf: ['fzf'],
  sqlite3: ['sqlite3'],
  python3: ['python3'],
  'openssh-client': ['ssh-keygen'],
  'openssh-server': ['sshd'],
  gnupg: ['gpg'],
  'pinentry-curses': ['pinentry-curses'],
  procps: ['ps'],
  asciinema: ['asciinema'],
  chromium: ['chromium', 'chromium-browser', 'google-chrome'],
};

install();
build();
installPackages(packages);

const only = process.argv.slice(2);
const failedChecks = only.length > 0 ? [] : staticChecks();
say('tests');
const first = vitest(only);
const broken = failedFiles(first.files);
// A failure that does not come back is still a defect: name it, and fix it before anything new.
const again = broken.length > 0 && broken.length <= 10 ? vitest([...broken, '--no-file-parallelism']) : undefined;
const files = new Map([...first.files, ...(again?.files ?? [])].map((file) => [file.name, file]));
for (const name of recovered(first.files, again?.files ?? [])) console.log(`FLAKY: ${name}`);

let passed = only.length > 0 ? 0 : staticCheckCount - failedChecks.length;
let failed = failedChecks.length;
for (const { status, assertionResults } of files.values()) {
  passed += assertionResults.filter((test) => test.status === 'passed').length;
  const failures = assertionResults.filter((test) => test.status === 'failed').length;
  // A file that breaks while loading has no test that could fail.
  failed += status === 'failed' && failures === 0 ? 1 : failures;
}
// An error outside of every test fails the run by its exit code alone.
const ok = first.ok || again?.ok === true;
if (!ok && failed === 0) failed = 1;
if (failedChecks.length > 0) fail(`failed: ${failedChecks.join(', ')}`);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);

/** Runs Vitest once; what it reported per file. */
function vitest(args) {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-test-'));
  const report = join(folder, 'report.json');
  const ok = tool('vitest', ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...args]);
  const result = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : { testResults: [] };
  rmSync(folder, { recursive: true, force: true });
  return { ok, files: result.testResults };
}

function failedFiles(results) {
  return results.filter(({ status }) => status === 'failed').map(({ name }) => name);
}

/** The tests that failed in the first run and passed in the second. */
function recovered(before, after) {
  const passedNow = new Set(
    after.flatMap(({ name, assertionResults }) =>
      assertionResults.filter(({ status }) => status === 'passed').map(({ fullName }) => `${name} ${fullName}`),
    ),
  );
  return before
    .flatMap(({ name, assertionResults }) =>
      assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => `${name} ${fullName}`),
    )
    .filter((name) => passedNow.has(name))
    .map((name) => name.replace(`${root}/`, ''));
}
