import type { Option } from '../../faces/cli/args.ts';
import { globalOptions } from '../global-options.ts';
import { optionsOfCommand } from '../help.ts';
import { commands } from '../index.ts';
import { optionsOf } from '../drive/verb-options.ts';
import { verbs } from '../drive/verbs.ts';

interface CompletionWord {
  readonly word: string;
  readonly help: string;
}

/** What may follow the words before the cursor: other words or a file, and options. */
export interface Spot {
  readonly words: readonly CompletionWord[] | 'file';
  readonly options: readonly Option[];
}

const help: Option = { name: 'help', flag: '--help', form: 'switch', help: 'What it takes' };
const version: Option = { name: 'version', flag: '--version', form: 'switch', help: 'Which version this is' };

/** By the words before the cursor: nothing, `serve`, `session`, `session create`. Made from the same tables as help. */
export function completionTable(): ReadonlyMap<string, Spot> {
  const table = new Map<string, Spot>();
  const first = [
    ...commands.flatMap(({ name, otherName, summary }) =>
      [name, ...(otherName === undefined ? [] : [otherName])].map((word) => ({ word, help: summary })),
    ),
    ...[...verbs.keys()].map((word) => ({ word, help: 'On a running instance' })),
  ];
  table.set('', {
    words: [...first, { word: 'help', help: 'What a command takes' }],
    options: [help, version, ...globalOptions],
  });
  table.set('help', { words: first, options: [] });
  for (const [noun, known] of verbs) {
    const options = [help, ...globalOptions];
    const words = new Map<string, string>();
    for (const { verb, op } of known.values()) {
      const [word = '', second] = verb.split(' ');
      if (!words.has(word)) words.set(word, op.summary);
      table.set(`${noun} ${verb}`, { words: [], options: [...optionsOf(op), help] });
      if (second === undefined) continue;
      const group = table.get(`${noun} ${word}`) ?? { words: [], options };
      table.set(`${noun} ${word}`, {
        options,
        words: [...group.words, { word: second, help: op.summary }] as CompletionWord[],
      });
    }
    table.set(noun, { words: [...words].map(([word, summary]) => ({ word, help: summary })), options });
  }
  for (const command of commands) {
    const { name, otherName, firstWords = [] } = command;
    const words = firstWords === 'file' ? firstWords : firstWords.map((word) => ({ word, help: '' }));
    const spot = { words, options: [...optionsOfCommand(command), help] };
    for (const one of otherName === undefined ? [name] : [name, otherName]) table.set(one, spot);
    // After the first word come the command's own options.
    if (words !== 'file') for (const { word } of words) table.set(`${name} ${word}`, { ...spot, words: [] });
  }
  return table;
}

/** What completes the value of an option: a directory, a file, one of some words, or nothing known. */
export function valuesOf({ metavar = '' }: Option): 'dir' | 'file' | readonly string[] {
  if (metavar === 'dir') return 'dir';
  if (metavar === 'file' || metavar === 'path') return 'file';
  return metavar.includes('|') ? metavar.split('|') : [];
}

export const takesValue = ({ form }: Option): boolean => form === 'value' || form === 'list';
