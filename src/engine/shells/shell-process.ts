import type { Foreground } from '../terminal/channel.ts';
import { traitsOf } from './traits.ts';

const withOperand = /^(?:[-+][a-zA-Z]*[oO]|--rcfile|--init-file|-C|--init-command)$/;

/**
 * Whether a shell in the foreground can be at a prompt at all: one that runs a script only prints what looks like one,
 * and what is typed goes to the script. `editing`: it reads character by character and echoes itself.
 */
export function takesCommands({ name, arguments: words }: Foreground, editing: boolean): boolean {
  if (editing || words === undefined) return true;
  return (traitsOf(name)?.hasLineEditor !== true || words.includes('--noediting')) && isInteractive(words);
}

/** By its arguments: no command and no script among them. */
export function isInteractive(words: readonly string[]): boolean {
  const rest = words.slice(traitsOf(words[0]?.replace(/^.*\//, ''))?.isWrapper ? 2 : 1);
  for (let at = 0; at < rest.length; at++) {
    const word = rest[at] ?? '';
    if (word === '--' || word === '-') return at === rest.length - 1;
    if (!/^[-+]./.test(word)) return false;
    if (/^-[a-zA-Z]*c/.test(word) || word.startsWith('--command')) return false;
    if (/^-[a-zA-Z]*s/.test(word)) return true;
    if (withOperand.test(word)) at++;
  }
  return true;
}
