// Fresh clone to tested: npm test. Installs, builds, brings the system packages when it may, runs everything.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { staticCheckCount, staticChecks } from './check.mjs';
import { build, fail, install, installPackages, say, tool } from './lib.mjs';

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
  procps: ['ps'],
  asciinema: ['asciinema'],
  chromium: ['chromium', 'chromium-browser', 'google-chrome'],
};

install();
build();
installPackages(packages);

const only = process.argv.slice(2);
const failedChecks = only.length > 0 ? [] : staticChecks();
const folder = mkdtempSync(join(tmpdir(), 'fairlead-test-'));
const report = join(folder, 'report.json');
say('tests');
const ok = tool('vitest', ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...only]);

let passed = only.length > 0 ? 0 : staticCheckCount - failedChecks.length;
let failed = failedChecks.length;
if (existsSync(report)) {
  const result = JSON.parse(readFileSync(report, 'utf8'));
  passed += result.numPassedTests;
  failed += result.numFailedTests;
  // A file that breaks while loading has no test that could fail.
  failed += result.testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0).length;
}
if (!ok && failed === 0) failed = 1;
rmSync(folder, { recursive: true, force: true });
if (failedChecks.length > 0) fail(`failed: ${failedChecks.join(', ')}`);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);
