import { assigned, assignment } from './assignments.ts';
import { parseShell, type ParsedLine } from './shell-syntax.ts';
import type { SimpleCommand } from './shell-words.ts';
import { joined, type CommandLook } from './look.ts';
import { mayRun, runners, takesText } from './harmless.ts';
import { readsScript } from './scripts.ts';
import { isShellName, special, withoutVersion } from './special.ts';
import { isInKernel, plain, unknown, type Word } from './word.ts';
import { afterOptions, wrappers } from './wrappers.ts';

/** A program and its words, as it would really be run: without the `sudo`, `env` or `xargs` around it. */
export interface EffectiveCommand {
  readonly words: readonly Word[];
  /** It only starts another one, which is listed too, or would run only in another shell than most. */
  readonly wrapper: boolean;
  /** Its words that it may run as a program. */
  readonly told: readonly Word[];
}

interface JudgedLine {
  readonly commands: readonly EffectiveCommand[];
  readonly problems: readonly string[];
  /** Variables it sets that decide where programs are looked for. */
  readonly places: readonly string[];
}

const deepest = 10;

/** Every command of a line, those that other commands are told to run included. */
export function commandsOf(line: string): JudgedLine {
  const feeds = /[|<]|>\(|\bcoproc\b/.test(line);
  const budget = { characters: 3 * line.length + 1000 };
  const found: Collected = { commands: [], problems: [], places: [], feeds, budget };
  collect(parseShell(line, { typed: true }), found, 0);
  return found;
}

interface Collected {
  readonly commands: EffectiveCommand[];
  readonly problems: string[];
  readonly places: string[];
  /** Something of the line may be sent what something else of it says. */
  readonly feeds: boolean;
  /** How much text may still be read again because a command is told to run it: judging a line takes linear time. */
  readonly budget: { characters: number };
}

function collect({ commands, problems }: ParsedLine, found: Collected, depth: number): void {
  found.problems.push(...problems);
  if (depth > deepest) {
    found.problems.push('commands start commands too deeply');
    return;
  }
  for (const command of commands) {
    if (!command.data) {
      unwrap(command, found, depth);
      continue;
    }
    const perhaps: Collected = { ...found, commands: [], problems: [] };
    unwrap(command, perhaps, depth);
    for (const one of perhaps.commands) found.commands.push({ ...one, wrapper: true });
  }
}

function unwrap(command: SimpleCommand, found: Collected, depth: number): void {
  const at = command.words.findIndex(({ text }) => !assignment.test(text));
  const text = (line: string): void => {
    found.budget.characters -= line.length;
    if (found.budget.characters < 0) problem('commands start commands too deeply');
    else collect(parseShell(line, { typed: false }), found, depth + 1);
  };
  const problem = (reason: string): void => void found.problems.push(reason);
  const place = (name: string): void => void found.places.push(name);
  const before = at === -1 ? command.words : command.words.slice(0, at);
  assigned(before, { text, problem, place });
  const words = at === -1 ? [] : command.words.slice(at);
  const [program, ...args] = words;
  if (program === undefined) return;
  if (
    program.dynamic ||
    (program.pattern === true && !/^\[\[?$/.test(program.text)) ||
    program.text.startsWith('=') ||
    isInKernel(program.text)
  ) {
    problem('which program it runs is known only when it runs');
  }
  const name = nameOf(program.text);
  const look: CommandLook = {
    name,
    args,
    command,
    feeds: found.feeds,
    problem,
    text,
    place,
    add: (wrapper, told = []) => void found.commands.push({ words, wrapper, told }),
    inner(rest) {
      if (depth > deepest) problem('commands start commands too deeply');
      else if (rest.length > 0) unwrap({ ...command, words: rest }, found, depth + 1);
    },
    spoken(word) {
      if (word === undefined) return;
      if (word.dynamic) problem(`what ${name} is told to run is known only when it runs`);
      text(word.text.replaceAll(unknown, ' '));
    },
  };
  const own = Object.hasOwn(special, name) ? special[name] : undefined;
  if (own !== undefined) own(look);
  else if (Object.hasOwn(wrappers, name)) wrapped(look);
  else {
    if (runners.has(name)) {
      if (args.some((word, place) => isUnsure(word, valued.has(name) ? args[place - 1] : undefined)))
        problem(`${name} may run a word that is known only when it runs; write it out, or behind its option`);
      if (takesText.has(name)) for (const word of args) if (/\s/.test(word.text)) look.spoken(word);
    }
    readsScript(look);
    look.add(false, mayRun(program.text, [...args, ...before, ...given(command)]));
    const told = mayRun(program.text, args);
    const shell = told.findIndex(({ text: word }) => isShellName(nameOf(word)) || starters.has(nameOf(word)));
    if (shell !== -1) shellOf(command, told.slice(shell), found, depth);
  }
}

/** Their short options take values that are no programs. */
const valued = new Set('tmux screen gdb lldb perf valgrind zellij'.split(' '));

/** What is read like a shell among the words of others: few of these names mean anything else. */
const starters = new Set(
  'env xargs sudo doas nohup nice timeout setsid stdbuf su runuser busybox find parallel'.split(' '),
);

/** A shell among the words of another program gets those behind it, if that runs it at all. */
function shellOf(command: SimpleCommand, words: readonly Word[], found: Collected, depth: number): void {
  if (depth > deepest) return void found.problems.push('commands start commands too deeply');
  const perhaps: Collected = { ...found, commands: [], feeds: false };
  unwrap({ ...command, words }, perhaps, depth + 1);
  for (const one of perhaps.commands) found.commands.push({ ...one, wrapper: true });
}

/** The name programs are known by here. */
function nameOf(program: string): string {
  const name = program.slice(program.lastIndexOf('/') + 1);
  return /^ld(?:-(?:linux|musl).*)?\.so/.test(name) ? 'ld.so' : withoutVersion(name);
}

/** What a program is given to read on the spot it may run as well. */
const given = ({ stdin }: SimpleCommand): readonly Word[] => (stdin === undefined ? [] : [plain(stdin.text)]);

const isUnsure = ({ text }: Word, before: Word | undefined): boolean =>
  text.startsWith(unknown) && !/^-[tsnLScFpx]$/.test(before?.text ?? '');

function wrapped(look: CommandLook): void {
  const { name, args, add, inner, spoken, text, problem } = look;
  const wrapper = wrappers[name];
  if (wrapper === undefined) return;
  const { rest, values, letters, problem: unclear } = afterOptions(args, wrapper);
  if (name === 'command' && /[vV]/.test(letters)) return add(false);
  if (unclear !== undefined) problem(`${name}: ${unclear}`);
  if (wrapper.assigns) assigned(args.slice(0, args.length - rest.length), look);
  const split = name === 'env' ? (values.get('S') ?? values.get('split-string')) : undefined;
  // Some options of these are programs.
  add(rest.length > 0 || split !== undefined, tracers.has(name) ? args.slice(0, args.length - rest.length) : []);
  if (name === 'exec' && rest.length === 0 && look.command.redirected)
    problem('exec would make the shell read its commands from elsewhere; give the input to one program');
  if (split !== undefined) {
    // The text has escapes of its own, and options, too; what follows stands behind its words.
    if (split.text.includes('\\')) problem('env -S: what its backslashes mean is not known here; leave them out');
    return spoken(joined([plain('env'), split, ...rest]));
  }
  const asShell = /^(?:sudo|doas)$/.test(name)
    ? /[si]/.test(letters) || args.some(({ text: word }) => /^--(?:shell|login)$/.test(word))
    : becomeShells.has(name);
  if (rest.length === 0) return asShell ? inner([plain('sh')]) : undefined;
  if (name === 'watch') return spoken(joined(rest));
  if (name === 'flock' && /^(?:-c|--command)$/.test(rest[0]?.text ?? '')) return spoken(rest[1]);
  // What they read becomes words of the command, or stands where a word of its own choice stood.
  if (name === 'xargs') return inner(filled(rest, values, letters, args));
  if (name === 'parallel') {
    const end = rest.findIndex(({ text: word }) => word.startsWith(':::'));
    const words = filled(end === -1 ? rest : rest.slice(0, end), values, letters, args);
    return text(words.map((word) => word.text).join(' '));
  }
  inner(rest);
}

/** Without a program they start a shell. */
const becomeShells = new Set(
  'chroot unshare nsenter setarch linux32 linux64 x86_64 i386 i486 i586 i686 uname26 pkexec'.split(' '),
);
const tracers = new Set('strace ltrace xvfb-run rlwrap fakeroot systemd-run'.split(' '));

/** The words of a command with what only its input knows: in place of a word of choice (`-I X`), or at the end. */
function filled(
  rest: readonly Word[],
  values: ReadonlyMap<string, Word>,
  letters: string,
  args: readonly Word[],
): readonly Word[] {
  const long = args.find(({ text }) => text.startsWith('--replace'))?.text.slice('--replace='.length);
  const chosen = [values.get('I')?.text, values.get('J')?.text, values.get('i')?.text, long].find(
    (one) => one !== undefined,
  );
  const mark = chosen === '' || (chosen === undefined && letters.includes('i')) ? '{}' : chosen;
  const marks = mark === undefined ? ['{}'] : [mark, '{}'];
  const words = rest.map((word) => {
    const text = marks.reduce((sofar, one) => sofar.replaceAll(one, unknown), word.text);
    return text === word.text ? word : { text, dynamic: true };
  });
  return mark === undefined ? [...words, hole] : words;
}

const hole: Word = { text: unknown, dynamic: true };
