import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { completionTable, takesValue } from '../../src/commands/completion/table.ts';
import { openSession, type PtySession } from '../support/pty-session.ts';
import { program } from '../support/served.ts';

const home = mkdtempSync(join(tmpdir(), 'fl-completion-'));
const env = { PATH: process.env['PATH'] ?? '', HOME: home, LANG: 'C.UTF-8' };
const script = (shell: string): string =>
  execFileSync(process.execPath, [program, 'completion', shell], { encoding: 'utf8', env });

beforeAll(() => {
  mkdirSync(join(home, 'functions'));
  writeFileSync(join(home, 'bash'), script('bash'));
  // As its first lines say.
  writeFileSync(join(home, 'functions', '_fairlead'), script('zsh'));
  writeFileSync(join(home, 'fish'), script('fish'));
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** A line up to the cursor, and what one Tab makes of it. */
const lines: readonly (readonly [typed: string, becomes: string])[] = [
  ['serv', 'serve'], // or server
  ['rec', 'recordings '],
  ['session cr', 'session create '],
  ['session create --cw', 'session create --cwd '],
  ['session create --json --name a --cw', 'session create --json --name a --cwd '],
  ['session create --cwd /us', 'session create --cwd /usr/'],
  ['session create --sess', 'session create --sess'],
  ['session text --sess', 'session text --session '],
  ['session text --session ', 'session text --session '],
  ['session list --js', 'session list --json '],
  ['session list --ho', 'session list --home '],
  ['exec wait 0 --ti', 'exec wait 0 --timeout-ms '],
  ['exec wait --pass', 'exec wait --passthrough '],
  ['exec signal --mode p', 'exec signal --mode process '],
  ['serve --por', 'serve --port '],
  ['serve --record=alw', 'serve --record=always '],
  ['mcp --read', 'mcp --read-only '],
  ['mcp-stdio --read', 'mcp-stdio --read-only '],
  ['audit ', 'audit verify '],
  ['completion z', 'completion zsh '],
  ['recordings exp', 'recordings export '],
  ['recordings export x --format g', 'recordings export x --format gif '],
  ['play /etc/shel', 'play /etc/shells '],
  ['help recor', 'help recordings '],
  ['--instance x session cr', '--instance x session create '],
];

describe.each(['bash', 'zsh'] as const)('%s', (shell) => {
  let pty: PtySession;
  beforeAll(async () => {
    pty = await openSession(shell === 'bash' ? ['bash', '--norc', '-i'] : ['zsh', '-f', '-i'], env);
    // Ctrl-G shows the line as it is then.
    const setUp = {
      bash: `bind 'set bell-style none'; source ${home}/bash; show() { echo "<$READLINE_LINE>"; }; bind -x '"\\C-g": show'`,
      zsh: `unsetopt beep auto_list list_ambiguous; fpath=(${home}/functions $fpath); autoload -U compinit; compinit -u -d ${home}/dump; show() { print -r -- "<$BUFFER>"; }; zle -N show; bindkey '^G' show`,
    };
    await pty.type(`${setUp[shell]}; echo rea''dy\r`);
    await pty.until('ready\r\n');
  });
  afterAll(async () => pty[Symbol.asyncDispose]());

  test.each(lines)('%s⇥', async (typed, becomes) => {
    await pty.type(`\x15fairlead ${typed}\t\x07`);
    await pty.until('<fairlead ');
    expect(await pty.until('>')).toBe(becomes);
  });
});

describe('fish', () => {
  const offered = (line: string): string[] =>
    execFileSync('fish', ['-c', `source ${home}/fish; complete -C 'fairlead ${line}'`], { encoding: 'utf8', env })
      .split('\n')
      .filter((one) => one !== '')
      .map((one) => one.split('\t')[0] ?? '');

  test.each(lines.filter(([typed, becomes]) => typed.trimEnd() !== becomes.trimEnd() && becomes.endsWith(' ')))(
    '%s⇥',
    (typed, becomes) => {
      const [last] = /\S*$/.exec(becomes.trimEnd()) ?? [];
      expect(offered(typed)).toEqual([last]);
    },
  );

  test('directories after --cwd, nothing after --session, no verb twice', () => {
    expect(offered('session create --cwd /us')).toContain('/usr/');
    expect(offered('session text --session ')).toEqual([]);
    expect(offered('session create --sess')).toEqual([]);
    expect(offered('session text 0 ')).not.toContain('create');
  });
});

test('an option takes a value everywhere or nowhere, so that words can be told from values', () => {
  const all = [...completionTable().values()].flatMap(({ options }) => options);
  const valued = new Set(all.filter(takesValue).map(({ flag }) => flag));
  expect(all.filter((option) => !takesValue(option) && valued.has(option.flag)).map(({ flag }) => flag)).toEqual([]);
});

test('every option of every verb says what it is for', () => {
  const silent = [...completionTable()].flatMap(([at, { options }]) =>
    options
      .filter(({ help }) => help.replaceAll(/\(.*?\)|repeatable/g, '').trim() === '')
      .map(({ flag }) => `${at} ${flag}`),
  );
  expect(silent).toEqual([]);
});
