import type { Terminal } from '../../../src/engine/terminal/terminal.ts';

/** The shells a command is run in. The plain one has no integration: there Fairlead has only what it types. */
export const columns = [
  'bash',
  'zsh',
  'zsh + theme',
  'fish',
  'dash',
  'ash',
  'bash, plain',
  'bash over ssh',
  'dash over ssh',
] as const;
export type Column = (typeof columns)[number];

/** A shell answers the same wherever it runs: what is expected of it is said once. */
const same: Partial<Record<Column, Column>> = { 'bash over ssh': 'bash', 'dash over ssh': 'dash' };

/** What is run in a column; null where the shell has no such thing. */
export function stepsFor({ steps, except }: Shape, column: Column): readonly Step[] | null {
  const own = except[column];
  if (own !== undefined) return own;
  const like = same[column];
  const others = like === undefined ? undefined : except[like];
  return others === undefined ? steps : others;
}

export interface Expected {
  /** `done` unless told otherwise. */
  readonly state?: 'running' | 'incomplete' | 'exited';
  /** Null: nobody can know it, and nobody claims to. */
  readonly exit: number | null;
  readonly text: string | RegExp;
}

export interface Step {
  readonly run: string;
  /** Something another call does once the command has begun, and has printed these bytes. */
  readonly meanwhile?: { readonly after?: string; readonly does: (terminal: Terminal) => Promise<void> };
  /** Undefined: a preparation, whose outcome does not matter. */
  readonly expect?: Expected;
}

export interface Shape {
  readonly name: string;
  readonly steps: readonly Step[];
  /** It changes the shell for good: nothing else may run in the same terminal. */
  readonly own: boolean;
  /** Where the steps or what comes out differ; null where the shell has no such thing. */
  readonly except: Partial<Record<Column, readonly Step[] | null>>;
}

const signal = (): AbortSignal => AbortSignal.timeout(20_000);
const types =
  (...keys: readonly string[]) =>
  async (terminal: Terminal): Promise<void> => {
    for (const text of keys) await terminal.input.send(Buffer.from(text), 'someone else', signal());
  };

type Outcome = readonly [exit: number | null, text: string | RegExp, state?: Expected['state']];
const expected = ([exit, text, state]: Outcome): Expected => ({ exit, text, ...(state ? { state } : {}) });
const step = (run: string, outcome?: Outcome): Step => (outcome ? { run, expect: expected(outcome) } : { run });

interface Options {
  readonly own?: boolean;
  readonly meanwhile?: Step['meanwhile'];
  /** Another outcome of the same command. */
  readonly but?: Partial<Record<Column, Outcome>>;
  /** Another command with the same outcome, or null. */
  readonly fish?: string | null;
  readonly none?: readonly Column[];
}

/** One command, the same in all shells but for what the options say. */
function shape(name: string, run: string, outcome: Outcome, options: Options = {}): Shape {
  const { own = false, meanwhile, but = {}, fish, none = [] } = options;
  const make = (command: string, result: Outcome): readonly Step[] => [
    { ...step(command, result), ...(meanwhile ? { meanwhile } : {}) },
  ];
  const except: Partial<Record<Column, readonly Step[] | null>> = {};
  for (const column of columns) {
    const command = column === 'fish' && typeof fish === 'string' ? fish : run;
    if (none.includes(column) || (column === 'fish' && fish === null)) except[column] = null;
    else if (but[column] || command !== run) except[column] = make(command, but[column] ?? outcome);
  }
  return { name, steps: make(run, outcome), own, except };
}

/** Several commands one after the other, in a terminal of their own. */
const series = (name: string, steps: readonly Step[], except: Shape['except'] = {}): Shape => ({
  name,
  steps,
  own: true,
  except,
});

/**
 * Tells, where nobody sees it, that it runs and becomes the program. A process of its own has the terminal by then, as the
 * shell that is about to start one has not: that one may lose Ctrl+C, and leaves keys to whatever reads next.
 */
const titled = (program: string): string => `sh -c "printf '\\033]2;begun\\007'; exec ${program}"`;
const begun = '\x1b]2;begun\x07';

const bothZsh = (outcome: Outcome): Partial<Record<Column, Outcome>> => ({ zsh: outcome, 'zsh + theme': outcome });
const sh = (outcome: Outcome): Partial<Record<Column, Outcome>> => ({ dash: outcome, ash: outcome });
const wanting: Outcome = [null, '', 'incomplete'];

export const shapes: readonly Shape[] = [
  shape('success', 'true', [0, '']),
  shape('failure', 'false', [1, '']),
  shape('words and quotes', `echo "a  b" 'c'`, [0, 'a  b c']),
  shape('no newline at the end', `printf 'no newline'`, [0, 'no newline']),
  shape('blank lines and indentation', `printf '\\n  a\\n\\n    b\\n'`, [0, '\n  a\n\n    b']),
  shape('&& chain', 'true && echo yes && false && echo no', [1, 'yes']),
  shape('|| chain', 'false || echo rescued', [0, 'rescued']),
  shape('sequence', 'false; echo after', [0, 'after']),
  shape('pipeline', `printf 'b\\na\\n' | sort`, [0, 'a\nb']),
  shape('pipeline whose last part fails', 'echo x | grep y', [1, '']),
  shape('pipefail', 'set -o pipefail; false | true', [1, ''], {
    own: true,
    fish: null,
    but: { dash: [2, /Illegal option -o pipefail/] },
  }),
  shape('exit of a subshell', '(echo in; exit 3)', [3, 'in'], { fish: `sh -c 'echo in; exit 3'` }),
  shape('exit code 255', `sh -c 'exit 255'`, [255, '']),
  shape('only errors printed', 'echo oops >&2', [0, 'oops']),
  shape('command not found', 'no-such-command-here', [127, /not found|Unknown command/]),
  shape('killed by a signal', `sh -c 'kill -KILL $$'`, [137, /^(|.*([Kk]illed|SIGKILL).*)$/s]),
  shape('loop over several lines', 'for i in 1 2 3\ndo\n  echo $i\ndone', [0, '1\n2\n3'], {
    fish: 'for i in 1 2 3\n  echo $i\nend',
  }),
  shape('several commands on lines', 'echo one\necho two\nfalse', [1, 'one\ntwo']),
  shape('heredoc', 'cat <<END\n  kept $((1 + 1))\n\nlast\nEND', [0, '  kept 2\n\nlast'], { fish: null }),
  shape('heredoc with quotes', `cat <<'END'\nit's "$HOME" \\ !here\nEND`, [0, `it's "$HOME" \\ !here`], { fish: null }),
  shape('only a comment', '# nothing', [null, ''], {
    but: { ...bothZsh([127, 'zsh: command not found: #']), 'bash, plain': [0, ''] },
  }),
  shape('nothing at all', '', [null, ''], { but: { 'bash, plain': [0, ''] } }),
  shape('comment at the end', 'echo a # b', [0, 'a'], { but: bothZsh([0, 'a # b']) }),
  shape('background job', 'sleep 5 &', [0, /^\[\d+\] \d+$/], {
    own: true,
    but: { fish: [0, ''], ...sh([0, '']) },
  }),
  shape('function', 'greet() { echo "hi $1"; return 4; }; greet you', [4, 'hi you'], {
    fish: 'function greet; echo "hi $argv[1]"; return 4; end; greet you',
  }),
  shape('cd', 'cd / && pwd', [0, '/']),
  shape('glob without match', 'ls /no-such-folder/*', [2, /cannot access/], {
    but: { ...bothZsh([1, /no matches found/]), fish: [124, /No matches for wildcard/] },
  }),
  shape('quote left open', 'echo "open', wanting, { but: { 'bash, plain': [2, /unexpected EOF/] } }),
  shape('backslash at the end', 'echo a \\', wanting, { but: { 'bash, plain': [0, 'a \\'] } }),
  shape('block left open', 'if true; then', wanting, {
    fish: 'if true',
    but: { 'bash, plain': [2, /syntax error/] },
  }),
  shape('syntax error', 'echo )', [null, /error/], {
    but: { ...sh([2, /[Ss]yntax error/]), fish: [null, /Unexpected '\)'/], 'bash, plain': [2, /syntax error/] },
  }),
  shape('tab in a command', `printf '[%s]' 'x\ty'`, [0, '[x      y]']),
  shape('letters of all kinds', `echo 'naïve Ünïcödé 漢字 🙂'`, [0, 'naïve Ünïcödé 漢字 🙂']),
  shape('wide letters over several rows', `printf '漢%.0s' $(seq 60)`, [0, '漢'.repeat(60)], {
    fish: `printf '漢%.0s' (seq 60)`,
  }),
  shape('a line wider than the screen', `printf 'x%.0s' $(seq 300)`, [0, 'x'.repeat(300)], {
    fish: `printf 'x%.0s' (seq 300)`,
  }),
  shape('a thousand lines', 'seq 1000', [0, Array.from({ length: 1000 }, (_, at) => at + 1).join('\n')]),
  shape('100 MB', `yes ${'z'.repeat(98)} | head -c 99000000`, [0, /^(?:z{98}\n){10000,}z{98}$/], {
    none: ['zsh', 'zsh + theme', 'fish', 'dash', 'ash'],
  }),
  shape('progress on one line', `printf '10%%\\r50%%\\r100%%\\n'`, [0, '100%']),
  shape('line erased and rewritten', `printf 'working...\\r\\033[Kdone\\n'`, [0, 'done']),
  shape('screen cleared', `printf 'before\\n'; clear; echo after`, [0, 'after']),
  shape('alternate screen, there and back', `printf '\\033[?1049hfull\\033[?1049l'; echo back`, [0, 'back']),
  shape('forged marks', `sh -c "printf '\\033]133;D;0\\007\\033]133;A\\007\\033]133;B\\007'; exit 1"`, [1, '']),
  shape('forged marker', `sh -c "printf '\\033]7461;AAAAAAAAAAAA;e;0\\007'; exit 1"`, [1, '']),
  shape('sleeps, then prints', 'sleep 0.3; echo slept', [0, 'slept']),
  shape('looks like a prompt while it works', `printf '$ '; sleep 0.6; echo end`, [0, '$ end']),
  shape('4 KiB line', `printf %s ${'x'.repeat(4090)} | wc -c`, [0, '4090']),
  shape('20 KiB line', `printf %s ${'y'.repeat(20_000)} | wc -c`, [0, '20000']),
  shape('history expansion', `echo "hi!there"`, [0, 'hi!there'], {
    but: { bash: [null, /event not found/], ...bothZsh([null, /event not found/]) },
  }),
  shape('echo off and on again', 'stty -echo; echo quiet; stty echo', [0, 'quiet']),
  shape('another user', `su root -c 'echo as $(whoami); exit 3'`, [3, 'as root']),
  shape('Ctrl+C', titled('sleep 30'), [130, /^(\^C)?$/], { meanwhile: { after: begun, does: types('\x03') } }),
  shape('Ctrl+C in a list', `echo go; ${titled('sleep 30')}; echo no`, [130, /^go\n?(\^C)?$/], {
    meanwhile: { after: begun, does: types('\x03') },
  }),
  shape('reads a line', 'read x; echo "got $x"', [0, /word\s+got word$/], { meanwhile: { does: types('word\r') } }),
  shape('reads to the end', `${titled('cat')}; echo over`, [0, /^typed\ntyped\nover$/], {
    meanwhile: { after: begun, does: types('typed\r', '\x04') },
  }),
  shape('type-ahead of someone else', 'echo go; sleep 0.6; echo mine', [0, /^go\n(?:echo ahead\n)?mine$/], {
    own: true,
    meanwhile: { after: 'go\r\n', does: types('echo ahead\r') },
  }),
  shape('exit of the shell', 'exit 5', [5, /^(exit)?$/, 'exited'], { own: true }),
  shape('exec', `exec sh -c 'echo last; exit 6'`, [6, 'last', 'exited'], { own: true }),
  shape('set -e, then a failure', 'set -e; echo on; false', [1, 'on', 'exited'], { own: true, fish: null }),
  series('alias', [step(`alias hey='echo aliased'`), step('hey', [0, 'aliased'])]),
  series('$? of the command before', [step('sh -c "exit 7"', [7, '']), step('echo $?', [0, '7'])], {
    fish: [step('sh -c "exit 7"', [7, '']), step('echo $status', [0, '7'])],
  }),
  series('variable', [step('X=41'), step('echo $((X + 1))', [0, '42'])], {
    fish: [step('set X 41'), step('math $X + 1', [0, '42'])],
  }),
  series(
    'trace',
    [step('set -x'), step('echo traced', [0, /^(?:.*\n)*traced\n?(?:.*\n?)*$/]), step('false', [1, /.*/s])],
    {
      fish: [step('set fish_trace 1'), step('echo traced', [0, /traced/]), step('false', [1, /.*/s])],
    },
  ),
  series(
    'job that prints after the prompt',
    [
      step('(until [ -e go ]; do sleep 0.05; done; echo late) &', [0, /^(\[1\] \d+)?$/]),
      step('touch go; wait; echo mine', [0, /^late\n.*mine/s]),
      step('echo next', [0, 'next']),
    ],
    {
      fish: [
        step(`sh -c 'until [ -e go ]; do sleep 0.05; done; echo late' &`, [0, '']),
        step('touch go; wait; echo mine', [0, /^late\n.*mine/s]),
        step('echo next', [0, 'next']),
      ],
    },
  ),
  series('prompt of two lines', [step(`PS1='first\nsecond$ '`), step('echo hi', [0, 'hi']), step('false', [1, ''])], {
    fish: [
      step('function fish_prompt; printf "first\\nsecond> "; end'),
      step('echo hi', [0, 'hi']),
      step('false', [1, '']),
    ],
  }),
  series('prompt on the right', [step(`RPROMPT='right'`), step('echo hi', [0, 'hi']), step('false', [1, ''])], {
    fish: [step('function fish_right_prompt; printf right; end'), step('echo hi', [0, 'hi']), step('false', [1, ''])],
    bash: null,
    dash: null,
    ash: null,
    'bash, plain': null,
  }),
  series('echo stays off', [step('stty -echo'), step('echo still', [0, 'still']), step('false', [1, ''])]),
  series('alternate screen that stays', [
    step(`printf '\\033[?1049h\\033[H\\033[2Jfull'; sleep 20; printf '\\033[?1049l'; echo back`, [
      null,
      /full/,
      'running',
    ]),
  ]),
  series('nested bash', [
    step('bash --norc', [null, /.*/s, 'running']),
    step('echo nested; (exit 9)', [9, 'nested']),
    step('exit 4', [4, 'exit']),
    step('echo outside', [0, 'outside']),
  ]),
  series('nested dash', [
    step('dash', [null, /.*/s, 'running']),
    step('echo nested; (exit 9)', [9, 'nested']),
    step('exit 4', [4, '']),
    step('echo outside', [0, 'outside']),
  ]),
  series('exec of another shell', [
    step('exec dash', [null, /.*/s, 'running']),
    step('echo replaced; (exit 9)', [9, 'replaced']),
  ]),
  series('python', [
    step('python3 -q', [null, '>>> ', 'running']),
    step('print(6 * 7)', [null, '42']),
    step('1/0', [null, /ZeroDivisionError: division by zero$/]),
    step('exit(3)', [3, '']),
    step('echo outside', [0, 'outside']),
  ]),
];
