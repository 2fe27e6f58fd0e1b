import { isShell } from '../engine/shells/traits.ts';
import { isUsual } from './harmless.ts';
import { isFunction, kindOf } from './variables.ts';

/** The command lines a call would run, for the policy to judge. */

interface Launch {
  readonly command?: string | undefined;
  readonly argv?: readonly string[] | undefined;
  readonly shell?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/**
 * A new terminal: its program, and what its variables make a shell run. A shell on its own runs nothing yet, if it is one of the
 * system's: what else has its name may be anything.
 */
export function launchLines({ command, argv, shell, env = {} }: Launch): readonly string[] {
  const isKnown = shell === undefined || (isUsual(shell) && isShell(shell.slice(shell.lastIndexOf('/') + 1)));
  const program = isKnown ? undefined : [shell, ...(command === undefined ? [] : ['-c', command])];
  return [
    ...(command === undefined ? [] : [command]),
    ...[argv, program].filter((words) => words !== undefined).map((words) => words.map(quoted).join(' ')),
    ...Object.entries(env).flatMap(([name, value]) => variableLines(name, value)),
  ];
}

/** `PROMPT_COMMAND` and similar variables are command lines in disguise; others are not. */
export function variableLines(name: string, value: string | null): readonly string[] {
  if (value === null || (kindOf(name) === undefined && !isFunction(value))) return [];
  // Only `env` can set a name that shells reject: `BASH_FUNC_ls%%`.
  return [/^\w+$/.test(name) ? `${name}=${quoted(value)}` : `env ${quoted(`${name}=${value}`)}`];
}

const bare = /^[\w@%+:,./-]+$/;
const syntax = /^(?:if|then|elif|else|fi|while|until|for|select|case|esac|do|done|function|time|coproc|in)$/;
const quoted = (text: string): string =>
  bare.test(text) && !syntax.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
