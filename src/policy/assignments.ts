import { commandOfOptions } from './option-variables.ts';
import { isFunction, kindOf } from './variables.ts';
import { isStream, unknown, type Word } from './word.ts';

export const assignment = /^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=/;

interface Judging {
  readonly text: (line: string) => void;
  readonly problem: (reason: string) => void;
  /** A variable that decides where programs are looked for is given another value. */
  readonly place: (name: string) => void;
}

/** What assignments give a shell or a program to run. */
export function assigned(words: readonly Word[], judging: Judging): void {
  for (const { text } of words) {
    const equals = text.indexOf('=');
    const name = /^[A-Za-z_]\w*/.exec(text)?.[0];
    if (equals === -1 || name === undefined) continue;
    assign(name, text.slice(name.length, equals), text.slice(equals + 1), judging);
  }
}

function assign(name: string, between: string, value: string, { text, problem, place }: Judging): void {
  const kind = kindOf(name);
  const array = value.startsWith(`(${unknown}`);
  if (isFunction(value)) return problem(`${name} would be a function; leave it out`);
  // Arithmetic takes a value for an expression, and runs what stands in that.
  if (kind === undefined) return /\$\(|`/.test(value) ? text(`: "${value.replaceAll('"', '\\"')}"`) : undefined;
  if (kind === 'place') {
    if (value.split(':').some(isStream)) problem(`what ${name} reads is known only when it runs; name a file`);
    return place(name);
  }
  if (kind === 'table') {
    if (array || between.startsWith('[')) problem(`${name} gives programs other names; use their own`);
    return;
  }
  if (kind === 'refused') return problem(`it is unknown what runs because of ${name}; leave it out`);
  if (value.includes(unknown)) return problem(`what ${name} holds is known only when it runs; write it out`);
  if (kind === 'options') return text(commandOfOptions(name, value));
  if (kind === 'command') return text(value.replace(/^[|-]+/, ''));
  // A prompt is decoded before it is expanded, and may spell a "$" as a number.
  if (/\\[0-7]{3}/.test(value)) problem(`what ${name} holds is not clear; write it without numbers of characters`);
  text(`: "${value.replaceAll('"', '\\"')}"`);
  if (name === 'BASH_ENV') place(name);
}
