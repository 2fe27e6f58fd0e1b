import { parseShell, type Parsed, type SimpleCommand, unknown, type Word } from './shell-syntax.ts';

/** A program and its words, as it would really be run: without the `sudo`, `env` or `xargs` around it. */
export interface EffectiveCommand {
  readonly words: readonly Word[];
  /** It only starts another one, which is listed too. */
  readonly wrapper: boolean;
}

export interface CommandLine {
  readonly commands: readonly EffectiveCommand[];
  readonly problems: readonly string[];
}

const deepest = 10;

/** Every command of a line, those that other commands are told to run included. */
export function commandsOf(line: string): CommandLine {
  const found: Collected = { commands: [], problems: [] };
  collect(parseShell(line), found, 0);
  return found;
}

interface Collected {
  readonly commands: EffectiveCommand[];
  readonly problems: string[];
}

function collect({ commands, problems }: Parsed, found: Collected, depth: number): void {
  found.problems.push(...problems);
  if (depth > deepest) found.problems.push('commands start commands too deeply');
  else for (const command of commands) unwrap(command, found, depth);
}

const shells = new Set('sh bash zsh dash ash ksh mksh fish rbash busybox'.split(' '));
const baseName = ({ text }: Word): string => text.slice(text.lastIndexOf('/') + 1);

function unwrap(command: SimpleCommand, found: Collected, depth: number): void {
  const words = command.words.slice(command.words.findIndex(({ text }) => !/^[A-Za-z_]\w*\+?=/.test(text)));
  const [program, ...args] = command.words.every(({ text }) => /^[A-Za-z_]\w*\+?=/.test(text)) ? [] : words;
  if (program === undefined) return;
  if (program.dynamic) found.problems.push('which program it runs is known only when it runs');
  const name = baseName(program);
  const text = (line: string): void => collect(parseShell(line), found, depth + 1);
  const spoken = (word: Word | undefined): void => {
    if (word === undefined) return;
    if (word.dynamic) found.problems.push(`what ${name} is told to run is known only when it runs`);
    text(word.text.replaceAll(unknown, ' '));
  };
  const inner = (rest: readonly Word[]): void => {
    if (depth > deepest) found.problems.push('commands start commands too deeply');
    else if (rest.length > 0) unwrap({ words: rest, piped: command.piped, stdin: command.stdin }, found, depth + 1);
  };
  const add = (wrapper: boolean): void => void found.commands.push({ words, wrapper });

  if (name in prefixes) {
    const rest = afterOptions(args, prefixes[name] ?? '', name === 'timeout' ? 1 : 0);
    const split = name === 'env' ? splitString(args) : undefined;
    add(rest.length > 0 || split !== undefined);
    spoken(split);
    // What they read becomes words of the command.
    return inner(rest.length > 0 && reading.has(name) ? [...rest, { text: unknown, dynamic: true }] : rest);
  }
  if (name === 'find') {
    add(false);
    for (const rest of executed(args)) inner(rest);
    return;
  }
  if (name === 'eval' || name === 'alias' || name === 'trap') {
    add(true);
    const said = name === 'trap' ? args.slice(0, 1) : args;
    for (const word of said) if (word.dynamic) found.problems.push(`what ${name} is given is known only when it runs`);
    return text(
      said
        .map((word) => (name === 'alias' ? word.text.replace(/^[^=]*=/, '') : word.text))
        .join(name === 'alias' ? '\n' : ' '),
    );
  }
  if (name === 'ssh') {
    add(false);
    const [, ...remote] = afterOptions(args, 'BbcDEeFIiJLlmOoPpQRSWw', 0);
    return spoken(joined(remote));
  }
  if (name === 'su' || name === 'script' || name === 'watch' || runners.has(name)) {
    const told = name === 'watch' ? joined(afterOptions(args, 'n', 0)) : argumentOf(args, 'c', ['--command', '--call']);
    add(told !== undefined);
    spoken(told);
    if (runners.has(name) && told === undefined) inner(packageCommand(name, args));
    return;
  }
  if (shells.has(name)) return shell(name, args);
  add(false);

  function shell(called: string, given: readonly Word[]): void {
    const rest = called === 'busybox' ? given.slice(1) : given;
    if (called === 'busybox' && !shells.has(given[0]?.text ?? '')) {
      add(true);
      return inner(given);
    }
    const told = argumentOf(rest, 'c', ['--command', '--init-command']);
    add(told !== undefined || command.stdin !== undefined);
    spoken(told);
    const script = rest.find((word) => !/^[-+]/.test(word.text));
    if (told !== undefined || script !== undefined) return;
    if (command.stdin !== undefined) spoken(command.stdin);
    else if (command.piped) found.problems.push(`${called} would run whatever it is sent`);
  }
}

/** Programs that run the rest of their words, each with the letters of its options that take a value. */
const prefixes: Readonly<Record<string, string>> = {
  sudo: 'CDghpRrTtUu',
  doas: 'Cu',
  env: 'uCS',
  command: '',
  builtin: '',
  exec: 'a',
  time: 'fo',
  nice: 'n',
  ionice: 'cnp',
  nohup: '',
  setsid: '',
  stdbuf: 'ioe',
  timeout: 'ks',
  chronic: '',
  unbuffer: '',
  strace: 'abeEIoOpPsSuUX',
  ltrace: 'aeFlnopsuwx',
  xargs: 'aEdIiLlnPsS',
  parallel: 'aIjJNnPS',
  chroot: '',
  caffeinate: 'tw',
  faketime: '',
};

const reading = new Set(['xargs', 'parallel']);
const runners = new Set(['npx', 'bunx', 'npm', 'pnpm', 'yarn']);

/** What follows the options. An option whose letter is in `valued` takes the next word, unless its value is joined to it. */
function afterOptions(args: readonly Word[], valued: string, skip: number): readonly Word[] {
  let at = 0;
  let left = skip;
  for (; at < args.length; at += 1) {
    const { text } = args[at] as Word;
    if (text === '--') {
      at += 1;
      break;
    }
    if (/^--[a-z]/.test(text)) continue;
    if (/^-./.test(text)) {
      if (valued.includes(text.at(-1) ?? '') && text.length === 2) at += 1;
      continue;
    }
    if (/^[A-Za-z_]\w*=/.test(text)) continue;
    if (left === 0) break;
    left -= 1;
  }
  return args.slice(at);
}

/** `env -S 'a b'`: a command line in one word. */
function splitString(args: readonly Word[]): Word | undefined {
  for (const [at, word] of args.entries()) {
    if (word.text === '-S' || word.text === '--split-string') return args[at + 1];
    const joinedTo = /^(?:-[iv0]*S|--split-string=)(.+)$/s.exec(word.text)?.[1];
    if (joinedTo !== undefined) return { text: joinedTo, dynamic: word.dynamic };
    if (!word.text.startsWith('-')) return undefined;
  }
  return undefined;
}

/** The value of an option such as `-c`, alone, among others (`-lc`) or with a long name. */
function argumentOf(args: readonly Word[], letter: string, long: readonly string[]): Word | undefined {
  for (const [at, word] of args.entries()) {
    const name = word.text.split('=', 1)[0] ?? '';
    if (long.includes(name))
      return word.text.includes('=') ? { ...word, text: word.text.slice(name.length + 1) } : args[at + 1];
    if (new RegExp(`^-[A-Za-z]*${letter}[A-Za-z]*$`).test(word.text)) return args[at + 1];
  }
  return undefined;
}

/** `npx tool args`, `npm exec tool`, `yarn dlx tool`: the tool. */
function packageCommand(name: string, args: readonly Word[]): readonly Word[] {
  const rest = afterOptions(args, 'p', 0);
  if (name === 'npx' || name === 'bunx') return rest;
  return ['exec', 'x', 'dlx'].includes(rest[0]?.text ?? '') ? afterOptions(rest.slice(1), 'p', 0) : [];
}

/** What `find` is told to run. */
function executed(args: readonly Word[]): Word[][] {
  const all: Word[][] = [];
  let current: Word[] | undefined;
  for (const word of args) {
    if (/^-(?:exec|execdir|ok|okdir)$/.test(word.text)) all.push((current = []));
    else if (word.text === ';' || word.text === '+') current = undefined;
    else current?.push(word);
  }
  return all;
}

const joined = (words: readonly Word[]): Word | undefined =>
  words.length === 0
    ? undefined
    : { text: words.map(({ text }) => text).join(' '), dynamic: words.some(({ dynamic }) => dynamic) };
