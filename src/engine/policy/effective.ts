import { assigned, assignment } from './assignments.ts';
import { parseShell, type Parsed } from './shell-syntax.ts';
import type { SimpleCommand } from './shell-words.ts';
import { joined, type Look } from './look.ts';
import { special } from './special.ts';
import { unknown, type Word } from './word.ts';
import { afterOptions, wrappers } from './wrappers.ts';

/** A program and its words, as it would really be run: without the `sudo`, `env` or `xargs` around it. */
export interface EffectiveCommand {
  readonly words: readonly Word[];
  /** It only starts another one, which is listed too, or would run only in another shell than most. */
  readonly wrapper: boolean;
}

export interface CommandLine {
  readonly commands: readonly EffectiveCommand[];
  readonly problems: readonly string[];
}

const deepest = 10;

/** Every command of a line, those that other commands are told to run included. */
export function commandsOf(line: string): CommandLine {
  const feeds = /[|<]|>\(|\bcoproc\b/.test(line);
  const found: Collected = { commands: [], problems: [], feeds, budget: { characters: 3 * line.length + 1000 } };
  collect(parseShell(line, { typed: true }), found, 0);
  return found;
}

interface Collected {
  readonly commands: EffectiveCommand[];
  readonly problems: string[];
  /** Something of the line may be sent what something else of it says. */
  readonly feeds: boolean;
  /** How much text may still be read again because a command is told to run it: judging a line takes linear time. */
  readonly budget: { characters: number };
}

function collect({ commands, problems }: Parsed, found: Collected, depth: number): void {
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
    for (const { words } of perhaps.commands) found.commands.push({ words, wrapper: true });
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
  assigned(at === -1 ? command.words : command.words.slice(0, at), { text, problem });
  const words = at === -1 ? [] : command.words.slice(at);
  const [program, ...args] = words;
  if (program === undefined) return;
  if (program.dynamic || (program.pattern === true && !/^\[\[?$/.test(program.text)) || program.text.startsWith('=')) {
    problem('which program it runs is known only when it runs');
  }
  const name = program.text.slice(program.text.lastIndexOf('/') + 1);
  const look: Look = {
    name,
    args,
    command,
    feeds: found.feeds,
    problem,
    text,
    add: (wrapper) => void found.commands.push({ words, wrapper }),
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
  else if (/^ld(?:-(?:linux|musl).*)?\.so/.test(name)) {
    look.add(args.length > 0);
    look.inner(args.filter(({ text: arg }) => !arg.startsWith('-')));
  } else look.add(false);
}

function wrapped(look: Look): void {
  const { name, args, add, inner, spoken, text, problem } = look;
  const wrapper = wrappers[name];
  if (wrapper === undefined) return;
  const { rest, values, letters, problem: unclear } = afterOptions(args, wrapper);
  if (name === 'command' && /[vV]/.test(letters)) return add(false);
  if (unclear !== undefined) problem(`${name}: ${unclear}`);
  if (wrapper.assigns) assigned(args.slice(0, args.length - rest.length), { text, problem });
  const told = { env: ['S', 'split-string'], runuser: ['c', 'command', 'session-command'] }[name] ?? [];
  const lines = told.map((option) => values.get(option)).filter((value) => value !== undefined);
  add(rest.length > 0 || lines.length > 0);
  if (lines.length > 0) {
    // `env -S` puts what follows behind its own words.
    for (const line of lines) spoken(joined(name === 'env' ? [line, ...rest] : [line]));
    return;
  }
  if (rest.length === 0) return;
  if (name === 'watch') return spoken(joined(rest));
  if (name === 'flock' && /^(?:-c|--command)$/.test(rest[0]?.text ?? '')) return spoken(rest[1]);
  // What they read becomes words of the command.
  if (name === 'xargs') return inner([...rest, hole]);
  if (name === 'parallel') {
    const end = rest.findIndex(({ text: word }) => word.startsWith(':::'));
    return text(`${(end === -1 ? rest : rest.slice(0, end)).map((word) => word.text).join(' ')} ${unknown}`);
  }
  inner(rest);
}

const hole: Word = { text: unknown, dynamic: true };
