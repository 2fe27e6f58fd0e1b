import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Mcp } from '../../support/mcp-client.ts';

/**
 * Real programs, driven through the tools to an effect that can be checked. FAIRLEAD_REPEAT=20 runs each twenty times in a
 * row, as for the table in docs/guide/programs.md.
 */
const repeat = Number(process.env['FAIRLEAD_REPEAT'] ?? 1);

interface Waited {
  readonly hit: string | null;
  readonly screen: string;
}

/** One terminal and a folder of its own. */
class Desk {
  readonly mcp: Mcp;
  readonly folder: string;
  readonly terminal: string;

  constructor(mcp: Mcp, folder: string, terminal: string) {
    this.mcp = mcp;
    this.folder = folder;
    this.terminal = terminal;
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  write(name: string, text: string): void {
    writeFileSync(this.path(name), text);
  }

  read(name: string): string {
    return readFileSync(this.path(name), 'utf8');
  }

  /** Starts a program that takes over the terminal. What it shows is nothing that the command as typed holds. */
  async start(command: string, shows: string): Promise<string> {
    await this.send({ text: command });
    return await this.until({ text: shows });
  }

  async send(input: { text?: string; mode?: string; keys?: string[] }): Promise<void> {
    await this.mcp.facts('terminal_send', { terminal: this.terminal, ...input });
  }

  async keys(...keys: string[]): Promise<void> {
    await this.send({ keys });
  }

  /** Presses a key until one of these stands on blue. A program may throw away keys that come before it reads. */
  async moveTo(wanted: string, key: string, items: readonly string[]): Promise<void> {
    const chosen = async (): Promise<string | undefined> => {
      const screen = await this.mcp.text('takeScreenshot', { sessionId: this.terminal, format: 'ansi' });
      return items.find((item) => new RegExp(`\\x1b\\[[\\d;]*44[\\d;]*m${item}`).test(screen));
    };
    for (let now = await chosen(); now !== wanted; ) {
      await this.keys(key);
      const pressed = performance.now();
      for (const before = now; now === before && performance.now() - pressed < 2000; ) now = await chosen();
    }
  }

  async until(conditions: object): Promise<string> {
    const { hit, screen } = await this.mcp.facts<Waited>('terminal_wait', {
      terminal: this.terminal,
      timeoutMs: 20_000,
      ...conditions,
    });
    if (hit === null) throw new Error(`${JSON.stringify(conditions)} did not come. The screen:\n${screen}`);
    return screen;
  }

  /** The program has ended and the shell is back. */
  async back(): Promise<void> {
    await this.until({ prompt: true });
  }

  async run(command: string): Promise<{ exitCode: number | null; output: string }> {
    const { state, exitCode, output } = await this.mcp.facts<{
      state: string;
      exitCode: number | null;
      output: string;
    }>('terminal_run', {
      terminal: this.terminal,
      command,
    });
    if (state !== 'done') throw new Error(`${command}: ${state}\n${output}`);
    return { exitCode, output };
  }
}

const git = (folder: string, ...args: string[]): string =>
  execFileSync('git', args, {
    cwd: folder,
    encoding: 'utf8',
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      GIT_AUTHOR_NAME: 'a',
      GIT_AUTHOR_EMAIL: 'a@b',
      GIT_COMMITTER_NAME: 'a',
      GIT_COMMITTER_EMAIL: 'a@b',
    },
  });

const programs: Readonly<Record<string, { needs: string; drive: (desk: Desk) => Promise<void> }>> = {
  'vim saves a file': {
    needs: 'vim',
    async drive(desk) {
      await desk.start('vim -u NONE -i NONE new.txt', '"new.txt"');
      await desk.send({ text: 'iline one\rline "two" \\ $HOME', mode: 'raw' });
      await desk.keys('Escape');
      await desk.until({ gone: '-- INSERT --' });
      await desk.send({ text: ':wq' });
      await desk.back();
      expect(desk.read('new.txt')).toBe('line one\nline "two" \\ $HOME\n');
    },
  },
  'nano saves a file': {
    needs: 'nano',
    async drive(desk) {
      await desk.start('nano note.txt', 'Exit');
      await desk.send({ text: 'written in nano', mode: 'raw' });
      await desk.until({ text: 'written in nano' });
      await desk.keys('Ctrl+O');
      await desk.until({ text: 'File Name to Write' });
      await desk.keys('Enter');
      await desk.until({ text: 'Wrote 1 line' });
      await desk.keys('Ctrl+X');
      await desk.back();
      expect(desk.read('note.txt')).toBe('written in nano\n');
    },
  },
  'less finds a line': {
    needs: 'less',
    async drive(desk) {
      desk.write(
        'long.txt',
        Array.from({ length: 5000 }, (_, i) => (i === 3210 ? 'the needle' : `line ${i}`)).join('\n'),
      );
      await desk.start('less long.txt', 'line 0');
      await desk.send({ text: '/needle' });
      const screen = await desk.until({ text: 'the needle' });
      expect(screen.split('\n')[0]).toBe('the needle');
      await desk.send({ text: 'q', mode: 'raw' });
      await desk.back();
    },
  },
  'htop quits': {
    needs: 'htop',
    async drive(desk) {
      await desk.start('htop', 'F10');
      await desk.keys('F10');
      await desk.back();
      expect((await desk.run('echo $?')).output).toBe('0');
    },
  },
  'mc copies a file': {
    needs: 'mc',
    async drive(desk) {
      mkdirSync(desk.path('a'));
      mkdirSync(desk.path('b'));
      desk.write('a/copied.txt', 'by mc');
      await desk.start('mc --nomouse --nosubshell a b', 'copied.txt');
      await desk.until({ text: '10Quit' });
      await desk.keys('ArrowDown', 'F5');
      await desk.until({ text: 'Copy file' });
      await desk.keys('Enter');
      await expect.poll(() => existsSync(desk.path('b/copied.txt'))).toBe(true);
      await desk.until({ gone: 'Copy file' });
      await desk.keys('F10');
      await desk.back();
      expect(desk.read('b/copied.txt')).toBe('by mc');
    },
  },
  'python computes': {
    needs: 'python3',
    async drive(desk) {
      await desk.start('python3 -q', '>>> ');
      await desk.send({ text: 'x = [n * n for n in range(5)]' });
      await desk.send({ text: 'sum(x)' });
      await desk.until({ regex: '^30$' });
      await desk.send({ text: "open('py.txt', 'w').write('from python')" });
      await desk.until({ regex: '^11$' });
      await desk.keys('Ctrl+D');
      await desk.back();
      expect(desk.read('py.txt')).toBe('from python');
    },
  },
  'node computes': {
    needs: 'node',
    async drive(desk) {
      await desk.start('NODE_REPL_HISTORY= node -i', '> ');
      await desk.send({ text: "fs.writeFileSync('node.txt', [1,2,3].map(n => n * 2).join())" });
      await desk.until({ text: 'undefined' });
      await desk.send({ text: '.exit' });
      await desk.back();
      expect(desk.read('node.txt')).toBe('2,4,6');
    },
  },
  'sqlite answers': {
    needs: 'sqlite3',
    async drive(desk) {
      await desk.start('sqlite3 test.db', 'sqlite> ');
      await desk.send({ text: 'create table t(n); insert into t values (20),(22);' });
      await desk.send({ text: "select 'total ' || sum(n) from t;" });
      await desk.until({ regex: '^total 42$' });
      await desk.send({ text: '.quit' });
      await desk.back();
    },
  },
  'git add -p stages one hunk of two': {
    needs: 'git',
    async drive(desk) {
      const lines = Array.from({ length: 40 }, (_, i) => `line ${i}`);
      git(desk.folder, 'init', '-q', '.');
      desk.write('f.txt', `${lines.join('\n')}\n`);
      git(desk.folder, 'add', 'f.txt');
      git(desk.folder, 'commit', '-qm', 'first');
      lines[2] = 'changed at the top';
      lines[37] = 'changed at the bottom';
      desk.write('f.txt', `${lines.join('\n')}\n`);
      await desk.start('git add -p', 'Stage this hunk');
      await desk.send({ text: 'y' });
      await desk.until({ text: '(2/2) Stage this hunk' });
      await desk.send({ text: 'n' });
      await desk.back();
      const staged = git(desk.folder, 'diff', '--cached');
      expect(staged).toContain('changed at the top');
      expect(staged).not.toContain('changed at the bottom');
    },
  },
  'git rebase -i drops a commit': {
    needs: 'git',
    async drive(desk) {
      git(desk.folder, 'init', '-q', '.');
      for (const name of ['one', 'two', 'three']) {
        desk.write(`${name}.txt`, name);
        git(desk.folder, 'add', '.');
        git(desk.folder, 'commit', '-qm', name);
      }
      await desk.start(
        "GIT_EDITOR='vim -u NONE -i NONE' git -c user.name=a -c user.email=a@b rebase -i HEAD~2",
        'pick',
      );
      await desk.send({ text: 'dd', mode: 'raw' });
      await desk.send({ text: ':wq' });
      await desk.back();
      expect(git(desk.folder, 'log', '--format=%s').split('\n')).toEqual(['three', 'one', '']);
    },
  },
  'dialog takes a choice': {
    needs: 'dialog',
    async drive(desk) {
      await desk.start('dialog --menu Choose 12 40 4 a apple b banana c cherry 2> choice', 'banana');
      await desk.until({ text: 'Cancel' });
      await desk.moveTo('cherry', 'ArrowDown', ['apple', 'banana', 'cherry']);
      await desk.keys('Enter');
      await desk.back();
      expect(desk.read('choice')).toBe('c');
    },
  },
  'fzf filters and picks': {
    needs: 'fzf',
    async drive(desk) {
      await desk.start("seq 1 500 | sed 's/^/item-/' | fzf > picked", '500/500');
      await desk.send({ text: 'item-377', mode: 'raw' });
      // `111/500` on the way there is not it.
      await desk.until({ regex: '(^|[^0-9])1/500' });
      await desk.keys('Enter');
      await desk.back();
      expect(desk.read('picked')).toBe('item-377\n');
    },
  },
  'tmux inside a terminal': {
    needs: 'tmux',
    async drive(desk) {
      await desk.start(`tmux -L t${desk.terminal} -f /dev/null new -s inner 'env PS1="in""ner> " sh'`, 'inner>');
      await desk.send({ text: 'echo inside > tmux.txt' });
      await expect.poll(() => existsSync(desk.path('tmux.txt')) && desk.read('tmux.txt')).toBe('inside\n');
      await desk.keys('Ctrl+B', 'd');
      await desk.until({ text: '[detached' });
      await desk.back();
      await desk.run(`tmux -L t${desk.terminal} kill-server`);
    },
  },
  'an Ink app takes a paste of several lines and one submit': {
    needs: 'node',
    async drive(desk) {
      await desk.start(
        `node ${join(import.meta.dirname, '..', '..', 'fixtures', 'ink-app.mjs')} ink.txt`,
        'Say something',
      );
      await desk.send({ text: 'first line\nsecond line\nthird', mode: 'paste' });
      await desk.back();
      const submitted = desk
        .read('ink.txt')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as string);
      expect(submitted).toHaveLength(1);
      expect(submitted[0]?.replaceAll('\r', '\n').replaceAll(/\x1b?\[20[01]~/g, '')).toBe(
        'first line\nsecond line\nthird',
      );
    },
  },
};

const has = (name: string): boolean =>
  (process.env['PATH'] ?? '').split(':').some((dir) => existsSync(join(dir, name)));

describe('real programs', () => {
  test.for(Object.entries(programs))(
    '%s',
    { timeout: 30_000 * Math.max(1, repeat) },
    async ([, { needs, drive }], { skip }) => {
      if (!has(needs)) skip(`${needs} is not installed`);
      await using mcp = await Mcp.start({ args: ['--cols', '100', '--rows', '30'] });
      for (let round = 0; round < repeat; round++) {
        const folder = mkdtempSync(join(tmpdir(), 'fairlead-programs-'));
        const { terminal } = await mcp.facts<{ terminal: string }>('terminal_open', { cwd: folder });
        await drive(new Desk(mcp, folder, terminal));
        await mcp.call('terminal_close', { terminal });
        rmSync(folder, { recursive: true, force: true });
      }
    },
  );
});
