import { tokenStarts } from './named-formats.ts';

/** A word without which a rule finds nothing, or a value that is known. */
interface Word {
  readonly text: string;
  /** With its capitals as given. */
  readonly isExact: boolean;
  /** Stands behind no letter. */
  readonly isStart: boolean;
  /** No letter follows. */
  readonly isEnd: boolean;
}

/** A word, to be compared with the bytes around a pair of its letters that stands at `offset` in it. */
interface Anchored {
  readonly word: Word;
  readonly offset: number;
  readonly bytes: Uint8Array;
  /** A third letter, counted from the pair, that tells most other words apart. */
  readonly probe: number;
  readonly probed: number;
}

/** What is looked for, by two bytes and by three. */
export interface TriggerTables {
  /** Pairs of bytes that deserve a look: two letters of a word, or one with a control. */
  readonly pairs: Uint8Array;
  /** The same for three bytes, hashed: such a pair and the letter behind it, or before it. */
  readonly withNext: Uint8Array;
  readonly withPrevious: Uint8Array;
  /** The words of a pair: an index into `wordsOf`. */
  readonly wordsAt: Uint16Array;
  readonly wordsOf: Anchored[][];
  /** Bytes that words and long runs are made of: a colour between two of them may hide one. */
  readonly inWord: Uint8Array;
}

/** What secrets are called, and the headers, programs and addresses that come with them. */
const names = ['passw', 'passp', 'passc', 'credential', 'authoriz', 'bearer', 'cookie', 'hooks.slack', '://'];
const clients = ['mysql', 'mariadb', 'mongo', 'redis-cli', 'ldap', 'curl'];
const wholeNames = ['pass', 'secret', 'token', 'key', 'pwd', '_auth', 'login'];

const words: readonly Word[] = [
  ...[...names, ...clients].map((text) => ({ text, isExact: false, isStart: false, isEnd: false })),
  ...wholeNames.map((text) => ({ text, isExact: false, isStart: false, isEnd: true })),
  ...tokenStarts.map((text) => ({ text, isExact: true, isStart: true, isEnd: false })),
];

/** Pairs of letters that tell words apart badly, the worst first. */
const common =
  'th he in er an re nd at on nt ha es st en ed to it ou ea hi is or ti as te et ng of al de se le sa si ar ve ra ld ur co me ne li ri io el ch ta ce la ro om ic ss ec ma pa ct di pe ca us tr ke'.split(
    ' ',
  );

/** What a terminal acts upon rather than shows. */
export const isControl = bytesThat((char) => /[\x00-\x08\x0a-\x1f\x7f]/.test(char));
export const lower = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 0x41 && byte <= 0x5a ? byte + 32 : byte));

/**
 * Of each word two pairs are marked, its rarest at an even place and its rarest at an odd one: a search that looks at
 * every other pair meets one of them. `known` values are words too.
 */
export function triggerTables(known: readonly string[] = []): TriggerTables {
  const tables: TriggerTables = {
    pairs: new Uint8Array(65_536),
    withNext: new Uint8Array(65_536),
    withPrevious: new Uint8Array(65_536),
    wordsAt: new Uint16Array(65_536),
    wordsOf: [[]],
    inWord: bytesThat((char) => /[A-Za-z0-9+/_=.:-]/.test(char)),
  };
  const values = known.map((text) => ({ text, isExact: true, isStart: false, isEnd: false }));
  for (const word of [...words, ...values]) for (const parity of [0, 1]) mark(tables, word, parity);
  for (const { text } of values) for (const byte of Buffer.from(text)) tables.inWord[byte] = 1;
  for (let pair = 0; pair < 65_536; pair++) if (hasControl(pair)) tables.pairs[pair] = 1;
  return tables;
}

export function third(pair: number, byte: number): number {
  return (pair ^ (byte << 7)) & 0xffff;
}

export function isLetter(byte: number): boolean {
  return (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a);
}

export function bytesThat(hold: (char: string) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => (byte < 128 && hold(String.fromCharCode(byte)) ? 1 : 0));
}

function hasControl(pair: number): boolean {
  return isControl[pair >> 8] === 1 || isControl[pair & 255] === 1;
}

function mark(tables: TriggerTables, word: Word, parity: number): void {
  const bytes = Uint8Array.from(Buffer.from(word.text));
  const offset = rarest(bytes, parity);
  const [first = 0, second = 0] = bytes.subarray(offset);
  const probe = offset + 2 < bytes.length ? 2 : -1;
  const probed = bytes[offset + probe] as number;
  const cases = (byte: number): number[] => (isLetter(byte) && !word.isExact ? [byte, byte ^ 32] : [byte]);
  for (const a of cases(first)) {
    for (const b of cases(second)) {
      const pair = (a << 8) | b;
      const others = tables.wordsOf[tables.wordsAt[pair] as number] ?? [];
      tables.pairs[pair] = 1;
      for (const c of cases(probed)) (probe < 0 ? tables.withPrevious : tables.withNext)[third(pair, c)] = 1;
      tables.wordsOf.push([...others, { word, offset, bytes, probe, probed }]);
      tables.wordsAt[pair] = tables.wordsOf.length - 1;
    }
  }
}

function rarest(bytes: Uint8Array, parity: number): number {
  let best = parity;
  let least = Number.POSITIVE_INFINITY;
  for (let at = parity; at + 2 <= bytes.length; at += 2) {
    const pair = String.fromCharCode(...bytes.subarray(at, at + 2)).toLowerCase();
    const cost = common.includes(pair) ? 100 - common.indexOf(pair) : /^[a-z]+$/.test(pair) ? 5 : 1;
    if (cost < least) [best, least] = [at, cost];
  }
  return best;
}
