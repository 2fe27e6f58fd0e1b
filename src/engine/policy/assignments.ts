import { unknown, type Word } from './word.ts';

export const assignment = /^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=/;

/** Variables whose value a shell runs, or reads a file for, sooner or later. */
const prompts = new Set(['PS0', 'PS1', 'PS2', 'PS3', 'PS4', 'PROMPT', 'RPROMPT']);
const files = new Set(['BASH_ENV', 'ENV']);
export const runsItsValue = (name: string): boolean =>
  name === 'PROMPT_COMMAND' || prompts.has(name) || files.has(name);

interface Judging {
  readonly text: (line: string) => void;
  readonly problem: (reason: string) => void;
}

/** What assignments give a shell to run: its prompts, and what it does before one. */
export function assigned(words: readonly Word[], { text, problem }: Judging): void {
  for (const word of words) {
    const name = /^[A-Za-z_]\w*/.exec(word.text)?.[0] ?? '';
    const equals = word.text.indexOf('=');
    if (equals === -1 || !runsItsValue(name)) continue;
    const value = word.text.slice(equals + 1);
    if (value.includes(unknown)) problem(`what ${name} holds is known only when it runs`);
    else if (name === 'PROMPT_COMMAND') text(value);
    else {
      // A prompt is decoded before it is expanded, and may spell a "$" as a number.
      if (/\\[0-7]{3}/.test(value)) problem(`what ${name} holds is not clear`);
      text(`: "${value.replaceAll('"', '\\"')}"`);
    }
  }
}
