import { closest } from '../../lib/closest.ts';

/** A flag as the command line knows it. */
export interface Flag {
  readonly name: string;
  /** `--max-sessions` */
  readonly flag: string;
  /** `-o`, where it has a short form. */
  readonly short?: string | undefined;
  readonly form: 'value' | 'switch' | 'list' | 'optional';
  readonly bare?: string | undefined;
  /** The only words it takes from behind it; what else stands there is not its own. */
  readonly only?: readonly string[] | undefined;
}

/** A flag as help and completion tell of it. */
export interface Option extends Flag {
  readonly help: string;
  /** What stands for its value: `dir` and `file` are completed, `a|b` are the only values. */
  readonly metavar?: string | undefined;
}

/** `--cwd <dir>`, `--record[=on|off]`, `--json` */
export const shapeOf = ({ flag, short, form, metavar }: Option): string => {
  const names = short === undefined ? flag : `${short}, ${flag}`;
  if (form === 'switch' || metavar === undefined) return names;
  return form === 'optional' ? `${names}[=${metavar}]` : `${names} <${metavar}>`;
};

export interface ParsedArguments {
  readonly flags: ReadonlyMap<string, string | readonly string[]>;
  readonly words: readonly string[];
  /** How many of the words came after `--`. */
  readonly literal: number;
  /** The last flag, and how many words stand before it. */
  readonly lastFlag?: { readonly flag: string; readonly after: number } | undefined;
}

/** The command line is wrong: exit 2, and say which word. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/**
 * `--x v` and `--x=v` mean the same. After `--` everything is a word. Where words are a command line, `-x` behind
 * the first is one of them, and `advice` is for who gave it an option that is not known here.
 */
export function parseArgs(
  argv: readonly string[],
  known: readonly Flag[],
  commandLine?: { readonly advice: string },
): ParsedArguments {
  const flags = new Map<string, string | string[]>();
  const words: string[] = [];
  const rest = [...argv];
  let literal = 0;
  let lastFlag: ParsedArguments['lastFlag'];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === '--') {
      literal = rest.length;
      words.push(...rest.splice(0));
      break;
    }
    const isShort = known.some(({ short }) => short === word) && !(commandLine && words.length > 0);
    if (!word.startsWith('--') && !isShort) {
      const isWord = !word.startsWith('-') || word.length === 1 || (commandLine && words.length > 0);
      if (!isWord) throw new UsageError(`Unknown option ${word}.`);
      words.push(word);
      continue;
    }
    const [name, inline] = split(word);
    const flag = known.find((one) => one.flag === name || one.short === name);
    if (!flag) {
      const names = known.map((one) => one.flag.slice(2));
      const [near] = closest(name.slice(2), names);
      const advice = commandLine && words.length > 0 ? ` ${commandLine.advice}` : '';
      throw new UsageError(`Unknown option ${name}.${near === undefined ? '' : ` Did you mean --${near}?`}${advice}`);
    }
    lastFlag = { flag: name, after: words.length };
    const value = inline ?? following(flag, rest);
    const before = flags.get(flag.name);
    if (flag.form === 'list') flags.set(flag.name, [...(Array.isArray(before) ? before : []), value]);
    else if (before !== undefined) throw new UsageError(`${name} is given twice.`);
    else flags.set(flag.name, value);
  }
  return { flags, words, literal, lastFlag };
}

/** Whether a switch is on: `--json` and `--json=true` are, `--json=false` is not. */
export function isOn(flags: ParsedArguments['flags'], name: string): boolean {
  const value = flags.get(name) ?? 'false';
  if (value !== 'true' && value !== 'false') throw new UsageError(`--${name} is true or false, not ${String(value)}.`);
  return value === 'true';
}

function split(word: string): [string, string | undefined] {
  const equals = word.indexOf('=');
  return equals < 0 ? [word, undefined] : [word.slice(0, equals), word.slice(equals + 1)];
}

function following(flag: Flag, rest: string[]): string {
  if (flag.form === 'switch') return 'true';
  if (flag.form === 'optional') {
    // `--record on-failure` is meant as one; `--record --headless` is not.
    const next = rest[0];
    const isMeant = next !== undefined && (flag.only?.includes(next) ?? !next.startsWith('-'));
    return isMeant ? (rest.shift() ?? '') : (flag.bare ?? '');
  }
  const value = rest.shift();
  if (value === undefined || value.startsWith('--')) throw new UsageError(`${flag.flag} needs a value.`);
  return value;
}
