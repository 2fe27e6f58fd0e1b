import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Terminal } from '../../../src/engine/terminal/terminal.ts';
import { awaitCondition } from '../../../src/engine/waiting/await-condition.ts';
import { limit, shellHome } from '../../support/engine.ts';
import { clean, prepare, runs } from '../../support/queries/matrix.ts';

const home = shellHome({ '.zshrc': '' });
prepare(home.home);
afterAll(() => home[Symbol.asyncDispose]());

const path = (name: string): string => join(home.home, name);
const type = (terminal: Terminal, text: string): Promise<void> =>
  terminal.input.send(Buffer.from(text), 'test', limit());
const shows = async (terminal: Terminal, text: string): Promise<void> => {
  const { hit } = await awaitCondition(
    terminal,
    { conditions: [{ type: 'text', text }], timeoutMs: 20_000 },
    limit(30_000),
  );
  expect(hit, terminal.screen.text({ scope: 'all', wrap: 'join' })).toBe(0);
};
/** Longer than any answer is kept back. */
const rests = (terminal: Terminal): Promise<unknown> =>
  awaitCondition(terminal, { conditions: [{ type: 'quiet', ms: 700 }], timeoutMs: 20_000 }, limit(30_000));

/** Asks where the cursor is as scripts do, and writes the answer down. */
const cursor = `o=$(stty -g); stty raw -echo min 0 time 100; printf '\\033[6n' >/dev/tty
answer=; while c=$(dd bs=1 count=1 2>/dev/null); [ -n "$c" ]; do answer=$answer$c; [ "$c" = R ] && break; done
stty "$o"; printf %s "$answer" >"$1"
`;
writeFileSync(path('cursor.sh'), cursor);
writeFileSync(path('later.sh'), 'while [ ! -e "$1" ]; do sleep 0.01; done; cat "$2"; : >"$3"\n');
const position = /^\x1b\[\d+;\d+R$/;

test('vim is told the version and the colours of its terminal', async () => {
  await using terminal = await home.open('bash');
  await type(terminal, `vim -u NONE -i NONE --cmd 'set nocp' ${path('text')}\r`);
  await shows(terminal, '[New]');
  const ask = `:call writefile([v:termresponse, v:termrbgresp], '${path('vim')}')\r`;
  await expect
    .poll(async () => {
      await type(terminal, ask);
      return existsSync(path('vim')) ? readFileSync(path('vim'), 'latin1') : '';
    })
    .toMatch(/\x1b\[>\d+;\d+;\d+c\n\x1b\]11;rgb:/);
  await type(terminal, ':q!\r');
  await awaitCondition(terminal, { conditions: [{ type: 'prompt' }], timeoutMs: 20_000 }, limit(30_000));
  await clean(terminal);
});

test('vim that ends before it reads leaves nothing behind', async () => {
  await using terminal = await home.open('bash');
  for (let round = 0; round < 5; round++) await runs(terminal, `vim -u NONE -i NONE --cmd 'set nocp' -c q`);
  await clean(terminal);
});

test('tmux is told what its terminal is', async () => {
  await using terminal = await home.open('bash');
  const tmux = `tmux -f /dev/null -S ${path('tmux')}`;
  await type(terminal, `${tmux} new -s replies\r`);
  await shows(terminal, '[replies]');
  await expect
    .poll(async () => {
      await type(terminal, `${tmux} display -p '#{client_termtype}' >${path('termtype')}\r`);
      return existsSync(path('termtype')) ? readFileSync(path('termtype'), 'utf8') : '';
    })
    .toBe('Fairlead\n');
  await type(terminal, 'exit\r');
  await awaitCondition(terminal, { conditions: [{ type: 'prompt' }], timeoutMs: 20_000 }, limit(30_000));
  await clean(terminal);
});

test('htop comes and goes, and the next line is clean', async () => {
  await using terminal = await home.open('bash');
  await type(terminal, 'htop\r');
  await shows(terminal, 'F10');
  await type(terminal, 'q');
  await awaitCondition(terminal, { conditions: [{ type: 'prompt' }], timeoutMs: 20_000 }, limit(30_000));
  await clean(terminal);
});

test('bash, zsh and fish that ask while they make their prompt are told', async () => {
  const asks = (shell: string): string => `sh ${path('cursor.sh')} ${path(`at-${shell}`)}`;
  const install: Readonly<Record<string, string>> = {
    bash: `PROMPT_COMMAND+=('${asks('bash')}')`,
    zsh: `asks() { ${asks('zsh')} }; precmd_functions+=(asks)`,
    fish: `function asks --on-event fish_prompt; ${asks('fish')}; end`,
  };
  for (const [shell, line] of Object.entries(install)) {
    await using terminal = await home.open(shell);
    await runs(terminal, line);
    await clean(terminal);
    expect(readFileSync(path(`at-${shell}`), 'latin1')).toMatch(position);
  }
});

test('a builtin that asks before it leaves canonical mode is told', async () => {
  await using terminal = await home.open('bash');
  const said = await runs(terminal, `read -rsdR -p $'\\e[6n' p; echo "got \${p#*[}"`);
  expect(said).toMatch(/got \d+;\d+$/);
  await clean(terminal);
});

test.each(['bash', 'zsh', 'fish'])('%s: the query of a background job does not reach the prompt', async (shell) => {
  await using terminal = await home.open(shell);
  const [go, gone] = [path(`go-${shell}`), path(`gone-${shell}`)];
  await runs(terminal, `sh ${path('later.sh')} ${go} ${path('all')} ${gone} &`);
  writeFileSync(go, '');
  await expect.poll(() => existsSync(gone)).toBe(true);
  await rests(terminal);
  await clean(terminal);
});

/** Shells that tell nothing: in a shell with marks, instead of it, in the terminal of another program. */
const unmarked: readonly [name: string, start: string][] = [
  ['bash in bash', 'bash --norc'],
  ['zsh in bash', 'zsh -f'],
  ['dash in bash', 'PS1="dash$ " dash'],
  ['fish in bash', 'fish --no-config'],
  ['bash instead of bash', 'exec bash --norc'],
  ['zsh instead of bash', 'exec zsh -f'],
  ['bash in the terminal of script', 'script -qfc "bash --norc" /dev/null'],
  ['zsh in the terminal of script', 'script -qfc "zsh -f" /dev/null'],
];

test.each(unmarked)('%s', async (_name, start) => {
  await using terminal = await home.open('bash');
  await type(terminal, `${start}\r`);
  await rests(terminal);
  await type(terminal, `cat ${path('all')}; echo print''ed\r`);
  await shows(terminal, 'printed');
  await rests(terminal);
  await type(terminal, `echo cl''ean >${path('clean')}; echo do''ne\r`);
  await shows(terminal, 'done');
  expect(readFileSync(path('clean'), 'utf8')).toBe('clean\n');
  const lines = terminal.screen.text({ scope: 'all', wrap: 'join' }).split('\n');
  expect(lines.filter((line) => line.includes('echo do'))).toEqual([expect.stringMatching(/[$%#>] echo cl''ean/)]);
});

test('a shell without marks gets none either', async () => {
  await using terminal = await home.open('bash', { integration: false });
  await type(terminal, `cat ${path('all')}; echo print''ed\r`);
  await shows(terminal, 'printed');
  await rests(terminal);
  await type(terminal, `echo cl''ean\r`);
  await shows(terminal, '\nclean');
  expect(terminal.screen.text({ scope: 'all', wrap: 'join' })).toMatch(/[$#] echo cl''ean\nclean/);
});
