import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commandWords } from './command-word.ts';
import { summarise, type Summary } from './index.ts';
import { cpuTimer } from '../../../../test/support/clocks/cpu-timer.ts';

const folder = join(import.meta.dirname, '../../../../test/fixtures/summaries');
const fixture = (name: string): string => readFileSync(join(folder, `${name}.txt`), 'utf8');
const commands: Readonly<Record<string, string>> = {
  'git-status': 'git status',
  'git-log': 'git log',
  'git-log-oneline': 'git log --oneline',
  'git-diff': 'git diff',
  'git-diff-stat': 'git diff --stat',
  'git-push': 'git push',
  'git-push-rejected': 'git push',
  'git-merge-conflict': 'git merge origin/main',
};
const of = (name: string, exitCode?: number): Summary =>
  summarise(fixture(name), { command: commands[name] ?? name.split('-')[0], exitCode });
const texts = ({ findings }: Summary): string[] => findings.map(({ text }) => text);

describe('R-HUB-103: the tool is chosen by the first word that says what runs', () => {
  test.each([
    ['pytest -q', 'pytest'],
    ['FOO=1 BAR=x sudo -u me env A=b time python3 -m pytest tests', 'pytest'],
    ['uv run --with x pytest', 'pytest'],
    ['poetry run pytest', 'pytest'],
    ['npx -y vitest run', 'vitest'],
    ['cd sub && /usr/bin/make -j4 2>&1 | tail', 'make'],
    ['python3 script.py', 'python3'],
    ['', ''],
    ['sudo', ''],
  ])('%s → %s', (line, word) => {
    expect(commandWords(line)[0] ?? '').toBe(word);
  });

  test('another command is unknown, whatever its output looks like', () => {
    expect(summarise(fixture('pytest-failed'), { command: 'cat log.txt' })).toMatchObject({
      kind: 'unknown',
      text: '',
    });
  });

  test('the right command with output that is not its own is unknown', () => {
    for (const command of ['pytest', 'git status', 'git', 'npm ci', 'cargo test', 'make', 'gcc x.c']) {
      expect(summarise('hello\nerrors: none\n12 things done\n', { command })).toMatchObject({ kind: 'unknown' });
      expect(summarise('', { command })).toMatchObject({ kind: 'unknown' });
    }
    expect(summarise('error: it broke\nwarning: hot\n3 passed the gate\n').kind).toBe('unknown');
  });

  test('without a command the text decides', () => {
    const kinds = Object.fromEntries(
      ['pytest-failed', 'cargo-test-failed', 'npm-jest-failed', 'make-failed', 'git-status', 'git-push-rejected'].map(
        (name) => [name, summarise(fixture(name)).kind],
      ),
    );
    expect(kinds).toEqual({
      'pytest-failed': 'pytest',
      'cargo-test-failed': 'cargo',
      'npm-jest-failed': 'npm',
      'make-failed': 'make',
      'git-status': 'git',
      'git-push-rejected': 'git',
    });
  });
});

describe('pytest', () => {
  test('failure: counts, failing tests with reasons, the first place', () => {
    const summary = of('pytest-failed', 1);
    expect(summary).toMatchObject({
      kind: 'pytest',
      status: 'failed',
      exitCode: 1,
      counts: { failed: 2, passed: 41, skipped: 1, xfailed: 1, xpassed: 1, warnings: 1, errors: 1 },
    });
    expect(summary.facts).toEqual(['took 1.25s', 'first failure at test_sum.py:13: RuntimeError']);
    expect(texts(summary)).toEqual([
      'FAILED test_sum.py::test_sum - assert (1 + 1) == 3',
      'FAILED test_sum.py::test_raises - ValueError: no such thing',
      'ERROR test_sum.py::test_fixture - RuntimeError: fixture',
    ]);
    for (const { line, text } of summary.findings) expect(fixture('pytest-failed').split('\n')[line - 1]).toBe(text);
  });

  test('success, also quiet; nothing selected; a module that cannot be read', () => {
    expect(of('pytest-passed')).toMatchObject({ status: 'passed', counts: { passed: 40, deselected: 7 } });
    expect(of('pytest-quiet-passed')).toMatchObject({ status: 'passed', counts: { passed: 40 } });
    expect(of('pytest-none')).toMatchObject({ kind: 'pytest', status: 'unknown', counts: { deselected: 47 } });
    expect(of('pytest-collection')).toMatchObject({
      status: 'failed',
      counts: { errors: 1 },
      facts: ['took 0.78s', 'Interrupted: 1 error during collection'],
      findings: [{ text: 'ERROR test_bad.py' }],
    });
  });

  test('colours make no difference; a gap in the middle little', () => {
    expect(texts(of('pytest-colour'))).toEqual(texts(of('pytest-failed')));
    expect(of('pytest-truncated')).toMatchObject({ status: 'failed', counts: { failed: 2, passed: 41 } });
    const broken = fixture('pytest-failed').split('\n').slice(0, 12).join('\n');
    expect(summarise(broken, { command: 'pytest' })).toMatchObject({
      status: 'unknown',
      facts: ['the end of the run is missing'],
    });
  });
});

describe('git', () => {
  test('status: branch, upstream, files by section', () => {
    for (const name of ['git-status', 'git-status-colour']) {
      const summary = summarise(fixture(name), { command: 'git status' });
      expect(summary).toMatchObject({
        kind: 'git',
        status: 'passed',
        counts: { staged: 1, unstaged: 1, untracked: 1 },
      });
      expect(summary.facts).toEqual(['On branch main', "Your branch is ahead of 'origin/main' by 1 commit."]);
      expect(texts(summary)).toEqual(['staged new file: st.txt', 'unstaged modified: g.txt', 'untracked new.txt']);
    }
    expect(summarise(fixture('git-status-truncated'), { command: 'git status' }).facts[0]).toBe('On branch main');
    const conflict = summarise(fixture('git-status-conflict'), { command: 'git status' });
    expect(conflict).toMatchObject({
      counts: { conflicted: 1 },
      findings: [{ text: 'conflicted both modified: f.txt' }],
    });
    expect(conflict.facts[1]).toContain('have 1 and 1 different commits');
  });

  test('status in short', () => {
    const text = '## main...origin/main [ahead 1]\n M a.ts\nM  b.ts\nMM c.ts\nUU d.ts\n?? e.ts\n';
    expect(summarise(text, { command: 'git status -sb' })).toMatchObject({
      counts: { staged: 2, unstaged: 2, conflicted: 1, untracked: 1 },
      facts: ['## main...origin/main [ahead 1]'],
    });
  });

  test('diff, log', () => {
    expect(of('git-diff-stat')).toMatchObject({ counts: { 'files changed': 1, '+': 5, '-': 1 } });
    expect(of('git-diff')).toMatchObject({
      counts: { files: 1, '+': 1, '-': 1 },
      findings: [{ line: 1, text: 'f.txt' }],
    });
    expect(of('git-log')).toMatchObject({ counts: { commits: 2 } });
    expect(texts(of('git-log'))).toEqual(['4d8576114c add g', 'fd409dd183 first commit']);
    expect(texts(of('git-log-oneline'))).toEqual(['1e21aca merge', 'fd409dd first commit']);
  });

  test('push and merge: what moved, what was refused, what conflicts', () => {
    expect(of('git-push')).toMatchObject({ status: 'passed', counts: { 'refs updated': 1 } });
    const rejected = of('git-push-rejected', 1);
    expect(rejected).toMatchObject({ status: 'failed', counts: { rejected: 1 } });
    expect(texts(rejected)).toContain('rejected main -> main: fetch first');
    const merge = of('git-merge-conflict');
    expect(merge).toMatchObject({ status: 'failed', counts: { conflicts: 1 } });
    expect(texts(merge)[0]).toBe('CONFLICT (content): Merge conflict in f.txt');
    expect(summarise('Already up to date.\n', { command: 'git pull' })).toMatchObject({ status: 'passed' });
    expect(summarise('fatal: not a git repository\n', { command: 'git log' })).toMatchObject({
      status: 'failed',
      findings: [{ line: 1, text: 'fatal: not a git repository' }],
    });
  });
});

describe('npm', () => {
  test('install', () => {
    expect(of('npm-install-added')).toMatchObject({
      status: 'passed',
      counts: { added: 213, removed: 2, changed: 1, audited: 216, vulnerabilities: 5, low: 1, moderate: 2, high: 2 },
    });
    expect(of('npm-install')).toMatchObject({ kind: 'npm', status: 'passed' });
    expect(of('npm-install-failed', 1)).toMatchObject({ status: 'failed', facts: ['error code ENOTCACHED'] });
    const conflict = of('npm-eresolve');
    expect(conflict.facts).toEqual(['error code ERESOLVE']);
    expect(conflict.text).toContain('peer react@"^17.0.0 || ^18.0.0" from old-widget@3.2.1');
  });

  test('scripts', () => {
    expect(texts(of('npm-missing-script'))[0]).toBe('npm error Missing script: "nosuch"');
    expect(of('npm-script-failed', 3)).toMatchObject({ kind: 'npm', status: 'failed', facts: ['script fail'] });
  });

  test.each([
    ['npm-jest-failed', { failed: 1, passed: 12 }, 'FAIL cart › totals the prices'],
    ['npm-vitest-failed', { failed: 1, passed: 1 }, 'FAIL a.test.ts > sums > breaks'],
    ['npm-vitest-colour', { failed: 1, passed: 1 }, 'FAIL a.test.ts > sums > breaks'],
    ['npm-mocha-failed', { failed: 1, passed: 7 }, 'FAIL users'],
    ['npm-test-failed', { failed: 1, passed: 1 }, 'FAIL breaks'],
  ])('%s', (name, counts, first) => {
    const summary = of(name);
    expect(summary).toMatchObject({ kind: 'npm', status: 'failed', counts });
    expect(texts(summary)[0]).toBe(first);
  });

  test('a gap in the middle', () => {
    expect(of('npm-truncated')).toMatchObject({ status: 'failed', counts: { failed: 1, passed: 12 } });
  });
});

describe('cargo', () => {
  test('tests', () => {
    for (const name of ['cargo-test-failed', 'cargo-test-colour']) {
      const summary = of(name, 101);
      expect(summary).toMatchObject({ kind: 'cargo', status: 'failed', counts: { passed: 1, failed: 1, warnings: 1 } });
      expect(texts(summary)).toEqual([
        'test tests::fails_on_purpose FAILED',
        'tests::fails_on_purpose panicked at src/lib.rs:8:29: assertion `left == right` failed: sum is wrong',
      ]);
    }
    expect(of('cargo-test-passed')).toMatchObject({ status: 'passed', counts: { compiled: 1, passed: 2 } });
    expect(of('cargo-truncated')).toMatchObject({ status: 'failed', counts: { passed: 1, failed: 1 } });
  });

  test('errors with code and place', () => {
    const summary = of('cargo-build-failed', 101);
    expect(summary.counts).toMatchObject({ errors: 2 });
    expect(texts(summary)).toEqual([
      'src/lib.rs:11:21: error[E0425]: cannot find type `Strin` in this scope',
      'src/lib.rs:10:26: error[E0308]: mismatched types',
    ]);
  });
});

describe('make', () => {
  test('failing target, directory, first error', () => {
    for (const name of ['make-failed', 'make-colour']) {
      const summary = of(name, 2);
      expect(summary).toMatchObject({ kind: 'make', status: 'failed', counts: { errors: 1, warnings: 1 } });
      expect(summary.facts).toEqual([
        'target main.o failed at Makefile:4, status 1',
        'in /home/dev/mk/sub',
        'first error at main.c:3:10: ‘undeclared’ undeclared (first use in this function)',
      ]);
    }
    expect(texts(of('make-link'))[0]).toContain('undefined reference to `nowhere');
    expect(of('make-no-rule').text).toContain("No rule to make target 'nosuch'");
    expect(of('make-truncated')).toMatchObject({ status: 'failed', counts: { errors: 1 } });
  });

  test('success', () => {
    expect(of('make-passed')).toMatchObject({ kind: 'make', status: 'passed' });
    expect(of('make-nothing')).toMatchObject({ status: 'passed', facts: ["Nothing to be done for 'done'."] });
  });
});

describe('R-HUB-105: whatever the text', () => {
  const all = readdirSync(folder).map((file) => fixture(file.replace('.txt', '')));
  const hints = [
    '',
    'pytest',
    'git status',
    'git push',
    'git diff',
    'git log',
    'npm test',
    'cargo test',
    'make',
    'gcc',
  ];

  test('a summary takes at most 2 KB, has at most 20 findings, and no control characters', () => {
    const many = Array.from({ length: 500 }, (_, i) => `FAILED t.py::test_${i} - ${'é'.repeat(300)}`).join('\n');
    for (const text of [...all, many, `=== test session starts ===\n${many}`]) {
      for (const command of hints) {
        const summary = summarise(text, { command });
        expect(Buffer.byteLength(summary.text)).toBeLessThanOrEqual(2048);
        expect(summary.findings.length).toBeLessThanOrEqual(20);
        expect(JSON.stringify(summary)).not.toMatch(/\\u00[01]/);
      }
    }
  });

  test.each([' ', '_', '=', 'a:1:1', '1 a', '_ ', ' |', '- ', '> a ', '! ', 'FAILED a ', 'make: *** [', '\n', '\x1b['])(
    'takes time in proportion to the text, also for text made to stop it: %j',
    (unit) => {
      for (const text of [unit.repeat(400_000 / unit.length), `${unit.repeat(380 / unit.length)}\n`.repeat(1000)]) {
        const spent = cpuTimer();
        for (const command of hints) summarise(text, { command });
        expect(spent()).toBeLessThan(5000);
      }
    },
  );
});
