import { assigning } from './assigning.ts';
import { readGit } from './git.ts';
import { afterVerb } from './harmless.ts';
import { joined, type CommandLook } from './look.ts';
import { isDescriptor, isStream, plain, unknown, type Word } from './word.ts';
import { afterOptions, row, type Wrapper } from './wrappers.ts';

/** Programs and builtins with their own way of running what they are given. */

const shellNames =
  'sh bash zsh dash ash hush ksh ksh88 ksh93 rksh mksh lksh oksh loksh pdksh yash posh fish rbash rzsh osh'.split(' ');
/** Their language is not parsed here. */
const foreignShells = 'tcsh csh rc es elvish nu pwsh powershell xonsh ysh ion scsh murex oil cmd'.split(' ');

export const isShellName = (name: string): boolean => shellNames.includes(name) || foreignShells.includes(name);

/** `bash-5.2`, `zsh5`: the shell without its version. */
export const withoutVersion = (name: string): string => {
  const base = name.replace(/-?\d[\d.]*$|-static$/, '');
  return isShellName(base) ? base : name;
};

function shell(look: CommandLook): void {
  const { name, args, add, spoken, problem } = look;
  let fromWord = false;
  let fromInput = false;
  let at = 0;
  for (; at < args.length; at += 1) {
    const { text, dynamic } = args[at] as Word;
    if (dynamic && /^[-+\0]/.test(text) && !isFile(args[at] as Word))
      problem(`an option of ${name} is known only when it runs`);
    if (text === '--' || text === '-') {
      at += 1;
      break;
    }
    if (!/^[-+]./s.test(text)) break;
    const long = /^--?([a-z]{2,}(?:-[a-z]+)*)(?:=(.*))?$/s.exec(text);
    const option = long?.[1] ?? '';
    if (option === 'command' || option === 'init-command') {
      spoken(long?.[2] === undefined ? args[(at += 1)] : { ...(args[at] as Word), text: long[2] });
      if (option === 'command') return add(true);
    } else if (option === 'rcfile' || option === 'init-file') script(look, args[(at += 1)]);
    else if (text.startsWith('--') || (long !== null && singleDash.has(option))) continue;
    else {
      if (name === 'fish' && text.startsWith('-C'))
        spoken(text === '-C' ? args[(at += 1)] : { ...(args[at] as Word), text: text.slice(2) });
      if (text.startsWith('-') && text.includes('c')) fromWord = true;
      if (text.startsWith('-') && text.includes('s')) fromInput = true;
      at += [...text].filter((letter) => letter === 'o' || letter === 'O').length;
    }
  }
  const operand = args[at];
  if (fromWord) {
    add(true);
    return operand === undefined ? problem(`what ${name} is told to run is missing`) : spoken(operand);
  }
  if (operand !== undefined && !fromInput && !isStream(operand.text)) {
    add(false, args.slice(at + 1));
    return script(look, operand);
  }
  add(look.command.stdin !== undefined);
  if (!fromInput) descriptor(look, operand);
  readInput(look);
}

/** `bash /proc/self/fd/3`: earlier lines, or another program, may have opened anything there. */
function descriptor({ name, command, problem }: CommandLook, file: Word | undefined): void {
  if (command.stdin === undefined && isDescriptor(file?.text ?? ''))
    problem(`what ${name} would read from ${file?.text} is known only when it runs; name a file`);
}

/** Without arguments it waits for lines, which are judged as they come; with a file it runs the file. */
function foreign(look: CommandLook): void {
  const { name, args, command, problem } = look;
  look.add(false, args.slice(1));
  const [first] = args;
  if (
    first === undefined
      ? command.piped || command.stdin !== undefined || look.feeds
      : /^[-+/]./s.test(first.text) && !isFile(first)
  )
    problem(`the language of ${name} is not known here; use sh or bash`);
}

const singleDash = new Set('login norc noprofile posix verbose restricted noediting debugger'.split(' '));

/** It runs what it reads. A redirected file counts like a named one; piped data does not. */
export function readInput({ name, command, feeds, text, problem }: CommandLook): void {
  const { stdin, readsFile } = command;
  if (stdin !== undefined) {
    if (stdin.text.includes(unknown)) problem(`${name} would run what is known only when it runs`);
    return text(stdin.text.replaceAll(unknown, ' '));
  }
  if (command.piped || (feeds && !readsFile)) problem(`${name} would run whatever it is sent`);
}

/** A file with commands. Its name may be unknown, as long as it is a file. */
function script(look: CommandLook, file: Word | undefined): void {
  if (file === undefined) return;
  if (isStream(file.text)) {
    descriptor(look, file);
    return readInput(look);
  }
  if (file.dynamic && !isFile(file)) look.problem(`what ${look.name} reads is known only when it runs`);
}

const isFile = (word: Word): boolean =>
  word.splits !== true && /\/[^\0/]*[A-Za-z][^\0/]*$/.test(word.text) && !/\/(?:stdin|tty)$/.test(word.text);

const source = (look: CommandLook): void => {
  look.add(false);
  const [first, second] = look.args;
  const file = first?.text === '--' ? second : first;
  // fish reads standard input.
  if (file === undefined) return readInput(look);
  if (isStream(file.text) && look.command.stdin === undefined)
    return look.problem(`${look.name} would run whatever it is sent; name a file`);
  // Only the first word is read as a file; the rest are its arguments.
  script(look, file?.splits === true && !look.feeds && file.text !== unknown ? { ...file, splits: false } : file);
};

function evaluate({ name, args, add, problem, text }: CommandLook): void {
  add(true);
  const said = args[0]?.text === '--' ? args.slice(1) : args;
  if (said.some(({ dynamic }) => dynamic)) problem(`what ${name} is given is known only when it runs`);
  text(said.map((word) => word.text).join(' '));
}

function trap({ args, add, spoken }: CommandLook): void {
  add(true);
  const said = args.filter(({ text }, at) => !(at === 0 && /^-(?:-|[lpP]+)$/.test(text)));
  if (said[0]?.text !== '-' && !/^-[lpP]/.test(args[0]?.text ?? '')) spoken(said[0]);
}

function alias({ args, add, problem, text }: CommandLook): void {
  add(true);
  if (args.some(({ dynamic }) => dynamic)) problem('what alias is given is known only when it runs');
  if (args.some(({ text: said }) => /\n|<</.test(said))) problem('an alias of several lines; write a function');
  text(args.map((word) => word.text.replace(/^[^=]*=/, '')).join('\n'));
}

/** `hash -p /bin/rm ls` makes `ls` run that; `enable -f file name` brings a builtin from elsewhere. */
const renames =
  (letter: string): ((look: CommandLook) => void) =>
  ({ args, add, inner, problem }) => {
    add(false);
    const path = argumentOf(args, letter, []);
    // zsh: `hash name=path`.
    for (const { text } of args) {
      const value = /^[^=/-][^=]*=(.*)$/s.exec(text)?.[1];
      if (value !== undefined) inner([plain(value)]);
    }
    if (path !== undefined) inner([path]);
    else if (args.some(({ splits }) => splits)) problem('which program gets which name is known only when it runs');
  };

const callback =
  (letter: string): ((look: CommandLook) => void) =>
  ({ args, add, spoken }) => {
    // fish: `complete -a '(…)'`.
    add(false, args);
    spoken(argumentOf(args, letter, []));
  };

function find({ args, add, inner, problem }: CommandLook): void {
  add(false);
  const all: Word[][] = [];
  const unsure = args.some(({ dynamic }) => dynamic);
  let current: Word[] | undefined;
  for (const one of args) {
    // Only find knows the file.
    const word = current === undefined || !one.text.includes('{}') ? one : filled(one);
    if (/^-(?:exec|execdir|ok|okdir)$/.test(word.text)) all.push((current = []));
    else if (word.text === ';' || (word.text === '+' && current !== undefined)) {
      // The end of a command whose beginning is uncertain.
      if (current === undefined && unsure) problem('what find runs is known only when it runs');
      current = undefined;
    } else if (current === undefined && word.splits === true && word.text.startsWith(unknown))
      problem('a word of find may become "-exec"; put the variable in double quotes');
    else current?.push(word);
  }
  for (const words of all) inner(words);
}

const filled = ({ text }: Word): Word => ({ text: text.replaceAll('{}', unknown), dynamic: true });

const noWrapper = { joined: '', long: new Set<string>(), longFlags: new Set<string>(), operands: 0, assigns: false };
const sshOptions: Wrapper = { ...noWrapper, valued: 'BbcDEeFIiJLlmOoPpQRSWw', flags: '1246AaCfGgKkMNnqsTtVvXxYy' };

function ssh({ args, add, inner, spoken, problem }: CommandLook): void {
  const options = afterOptions(args, sshOptions);
  const before = args.slice(0, args.length - options.rest.length);
  add(
    false,
    before.filter(({ text, dynamic }, at) => dynamic || /^-o./s.test(text) || args[at - 1]?.text === '-o'),
  );
  const unclear = options.problem;
  const [, ...remote] = options.rest;
  if (unclear !== undefined && remote.length > 0) problem(`ssh: ${unclear}`);
  for (const [at, { text }] of args.entries()) {
    const value = text === '-o' ? args[at + 1]?.text : /^-o(.+)$/s.exec(text)?.[1];
    const runs = /^\s*(?:Proxy|Local|KnownHosts|Remote)Command\s*[=\s]\s*(.*)$/is.exec(value ?? '')?.[1];
    if (runs !== undefined) spoken({ text: runs, dynamic: runs.includes(unknown) });
  }
  spoken(joined(remote));
  // Without a command it runs a shell, unless an option asks for something else.
  if (remote.length === 0 && options.rest.length > 0 && !/[NfGOQVW]/.test(options.letters)) inner([plain('sh')]);
}

const suOptions = row(
  'cCgGsTwu',
  'fhlmpPV',
  'command session-command group supp-group shell whitelist-environment user',
  'fast login preserve-environment pty',
);

/** `su [options] [-] [user [words of its shell]]`; options may also come last. `runuser -u user program` has no shell. */
function su(look: CommandLook): void {
  const { name, args, add, inner, spoken, problem } = look;
  const told = argumentOf(args, 'c', ['--command', '--session-command']);
  const { rest, values, problem: unclear } = afterOptions(args, suOptions);
  if (unclear !== undefined) problem(`${name}: ${unclear}`);
  const chosen = values.get('s') ?? values.get('shell') ?? argumentOf(args, 's', ['--shell']);
  const named = rest[0]?.text === '-' ? 2 : 1;
  const direct = name === 'runuser' && (values.has('u') || values.has('user'));
  const words = direct ? rest : rest.slice(named).filter(({ text }) => text !== '--');
  add(told !== undefined || words.length > 0, words);
  if (told !== undefined) spoken(told);
  if (direct) return inner(words);
  // A chosen shell gets the words, and the command text after "-c".
  if (chosen !== undefined) inner([chosen, ...words]);
  else if (told === undefined) inner([plain('sh'), ...words]);
}

const scriptOptions: Wrapper = {
  ...noWrapper,
  valued: 'BIOTcEomt',
  flags: 'aefqdkpr',
  long: new Set(['command', 'log-in', 'log-out', 'log-io', 'log-timing', 'echo', 'output-limit', 'logging-format']),
  longFlags: new Set(['append', 'return', 'flush', 'force', 'quiet', 'timing']),
};

function typescript({ args, add, inner, spoken, problem }: CommandLook): void {
  const { rest, values, problem: unclear } = afterOptions(args, scriptOptions);
  const told = values.get('c') ?? values.get('command') ?? argumentOf(rest, 'c', ['--command']);
  if (unclear !== undefined) problem(`script: ${unclear}`);
  add(told !== undefined || rest.length > 1);
  spoken(told);
  if (told === undefined && rest.length <= 1) inner([plain('sh')]);
  // On BSD the words after the file are the command.
  if (!/^-c|^--command/.test(rest[1]?.text ?? '')) inner(rest.slice(1).filter(({ text }) => text !== '--'));
}

function runner({ name, args, add, inner, spoken }: CommandLook): void {
  const told = argumentOf(args, 'c', ['--call', '--command', '--shell-mode']);
  // `pnpm touch` runs that program where it has no such verb of its own.
  const bare =
    name === 'pnpm' &&
    !/^(?:rm|remove|un|uninstall|add|i|in|install|run|test|t|start)$/.test(pastOptions(args)[0]?.text ?? '');
  add(told !== undefined, name === 'npx' || name === 'bunx' || bare ? args : afterVerb(args));
  spoken(told);
  inner(packageCommand(name, args));
}

/** `npx tool args`, `npm exec tool`, `yarn dlx tool`: the tool. */
function packageCommand(name: string, args: readonly Word[]): readonly Word[] {
  const rest = pastOptions(args);
  if (name === 'npx' || name === 'bunx') return rest;
  return ['exec', 'x', 'dlx'].includes(rest[0]?.text ?? '') ? pastOptions(rest.slice(1)) : [];
}

function pastOptions(args: readonly Word[]): readonly Word[] {
  let at = 0;
  for (; at < args.length; at += 1) {
    const { text } = args[at] as Word;
    if (text === '--') return args.slice(at + 1);
    if (!text.startsWith('-')) break;
    if (/^(?:-p|--package|-w|--workspace|--prefix|-C|--cwd|--dir|--filter)$/.test(text)) at += 1;
  }
  return args.slice(at);
}

function bind({ args, add, problem }: CommandLook): void {
  add(false);
  if (args.some(({ text }) => !/^(?:-[lpPsSvVX]+|set .*)$/.test(text))) problem('bind gives keys another meaning');
}

function history({ args, add, problem }: CommandLook): void {
  add(false);
  if (!/^-[lnrd]*l/.test(args[0]?.text ?? '')) problem('fc runs older lines again');
}

/** It runs its input later. */
function later(look: CommandLook): void {
  look.add(false);
  if (!look.args.some(({ text }) => /^-[A-Za-z]*[flrdcV]/.test(text))) readInput(look);
}

function table({ name, args, command, feeds, add, problem }: CommandLook): void {
  add(false);
  const reads = args.some(({ text, dynamic }) => text === '-' || dynamic || isStream(text));
  const nothing = args.every(({ text }) => text.startsWith('-') && text !== '-') && args.length > 0;
  if (reads || command.stdin !== undefined || (!nothing && (command.piped || feeds)))
    problem(`${name} would run whatever it is sent; name a file`);
}

/** zsh: `emulate sh -c '…'`. */
function emulate({ args, add, spoken }: CommandLook): void {
  const at = args.findIndex(({ text }) => /^-[A-Za-z]*c$/.test(text));
  add(at !== -1);
  if (at !== -1) spoken(args[at + 1]);
}

/** fish: abbreviations rewrite typed text; zsh: bindings change the meaning of keys. */
function abbreviation({ name, args, add, problem }: CommandLook): void {
  add(false);
  if (
    args.some(({ text }) => !/^(?:-[eglqvs]+|--(?:erase|list|show|query))$/.test(text)) &&
    !/^(?:-e|--erase)/.test(args[0]?.text ?? '')
  )
    problem(`${name} gives what is typed another meaning`);
}

/** It becomes a shell, or runs the text of its `-c`. */
function withShell({ add, inner, spoken, args }: CommandLook): void {
  const told = argumentOf(args, 'c', ['--command']);
  add(told !== undefined, args);
  if (told === undefined) inner([plain('sh')]);
  else spoken(told);
}

/** In such a directory a number names a descriptor. */
function enter(look: CommandLook): void {
  look.add(false);
  if (look.args.some(({ text }) => isStream(`${text}/`)))
    look.problem(`${look.name} goes where the files are descriptors; stay outside`);
}

function busybox(look: CommandLook): void {
  look.add(true);
  look.inner(look.args);
}

const each = (names: string, look: (look: CommandLook) => void): Record<string, (look: CommandLook) => void> =>
  Object.fromEntries(names.split(' ').map((name) => [name, look]));

export const special: Readonly<Record<string, (look: CommandLook) => void>> = {
  ...assigning,
  ...each(shellNames.join(' '), shell),
  ...each(foreignShells.join(' '), foreign),
  ...each('at batch', later),
  ...each('abbr bindkey commandline', abbreviation),
  ...each('newgrp login sg', withShell),
  crontab: table,
  ...each('cd chdir pushd', enter),
  emulate,
  ...each('source .', source),
  ...each('npx bunx npm pnpm yarn', runner),
  ...each('complete compgen', callback('C')),
  eval: evaluate,
  trap,
  alias,
  hash: renames('p'),
  enable: renames('f'),
  find,
  ssh,
  ...each('su runuser', su),
  script: typescript,
  git: readGit,
  bind,
  fc: history,
  busybox,
};

/** The value of an option such as `-c`: the next word, joined to it, among others (`-lc`) or with a long name. */
function argumentOf(args: readonly Word[], letter: string, long: readonly string[]): Word | undefined {
  for (const [at, word] of args.entries()) {
    const name = word.text.split('=', 1)[0] ?? '';
    if (long.includes(name))
      return word.text.includes('=') ? { ...word, text: word.text.slice(name.length + 1) } : args[at + 1];
    if (!/^-[A-Za-z]/.test(word.text)) continue;
    const place = word.text.indexOf(letter);
    if (place === -1) continue;
    return place === word.text.length - 1 ? args[at + 1] : { ...word, text: word.text.slice(place + 1) };
  }
  return undefined;
}
