/**
 * What a model may read of a program's output: the characters a person would see, in the order they stand. What cannot
 * be seen but could be read (smuggled tags, zero-width letters, directions that swap words) is taken out and counted.
 */
type TextFlag =
  /** C0 and C1 characters, code points that are none, unpaired surrogates: shown as U+FFFD. */
  | 'control'
  /** Characters that change the direction in which text is shown. */
  | 'bidi'
  /** Characters without width, soft hyphens, fillers. */
  | 'zero_width'
  /** Invisible copies of ASCII (U+E0000…), outside the three flags that are made of them. */
  | 'tags'
  /** Variation selectors where there is nothing to select, or several in a row. */
  | 'variation'
  /** More combining marks on a character than any script needs. */
  | 'combining'
  /** Text in the colour of its background, or concealed: left in, between ⟦ and ⟧. */
  | 'hidden';

/** How many characters of each kind were met; kinds that were not are absent. */
export type TextFlags = { readonly [flag in TextFlag]?: number };

export interface PlainText {
  readonly text: string;
  readonly flags: TextFlags;
}

interface PlainTextOptions {
  /** What a line separator that is not `\n` becomes. In a row of a screen it is one more character, not a new row. */
  readonly separator?: '\n' | ' ';
}

/** Matches anything that needs work. Most text has none of it and is returned as it is. */
const suspicious =
  /[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufff9-\ufffb\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\p{Surrogate}]|\p{M}{9,}/u;
const runs =
  /(?<line>[\u0085\u2028\u2029]+)|(?<control>[\0-\x08\x0b-\x1f\x7f-\x84\x86-\x9f\ufff9-\ufffb\p{Noncharacter_Code_Point}\p{Surrogate}]+)|(?<marks>\p{M}{9,})|(?<ignorable>\p{Default_Ignorable_Code_Point}+)/gu;

/** No script stacks more marks on one character. */
const mostMarks = 8;

/** Linear in the length of the text; text without anything to remove costs one look. */
export function plainText(text: string, { separator = '\n' }: PlainTextOptions = {}): PlainText {
  if (!suspicious.test(text)) return { text, flags: {} };
  const flags: { [flag in TextFlag]?: number } = {};
  const count = (flag: TextFlag, by: number): void => {
    if (by > 0) flags[flag] = (flags[flag] ?? 0) + by;
  };
  const plain = text.replace(runs, (run, ...rest) => {
    const groups = rest.at(-1) as Record<string, string | undefined>;
    const at = rest.at(-3) as number;
    if (groups['line'] !== undefined) return separator.repeat(run.length);
    if (groups['control'] !== undefined) {
      const points = [...run].length;
      count('control', points);
      return '\ufffd'.repeat(points);
    }
    if (groups['marks'] !== undefined) return fewerMarks(run, count);
    if (keeps(run, text, at)) return run;
    for (const character of run) count(kindOf(character.codePointAt(0) ?? 0), 1);
    return '';
  });
  return { text: plain, flags };
}

/** Adds up what several pieces of one answer were flagged with. */
export function addFlags(...all: readonly TextFlags[]): TextFlags {
  const sum: { [flag in TextFlag]?: number } = {};
  for (const flags of all) {
    for (const [flag, count] of Object.entries(flags) as [TextFlag, number][]) sum[flag] = (sum[flag] ?? 0) + count;
  }
  return sum;
}

function fewerMarks(run: string, count: (flag: TextFlag, by: number) => void): string {
  // Marks include variation selectors and other ignorable ones; in such a crowd none of them means anything.
  const marks = [...run].filter((mark) => !/\p{Default_Ignorable_Code_Point}/u.test(mark));
  count('variation', [...run].length - marks.length);
  count('combining', Math.max(0, marks.length - mostMarks));
  return marks.slice(0, mostMarks).join('');
}

function kindOf(code: number): TextFlag {
  if (code === 0x61c || code === 0x200e || code === 0x200f) return 'bidi';
  if ((code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069)) return 'bidi';
  if ((code >= 0xfe00 && code <= 0xfe0f) || (code >= 0xe0100 && code <= 0xe01ef)) return 'variation';
  return code >= 0xe0000 && code <= 0xe0fff ? 'tags' : 'zero_width';
}

const flagTags = new Set(['gbeng', 'gbsct', 'gbwls'].map(tagged));
const joiner = /^[\u200c\u200d]$/;
const emojiEnd = /[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f]$/u;
/** Scripts in which the two joiners choose between shapes of the letters beside them. */
const shaping =
  '[\\p{scx=Arab}\\p{scx=Syrc}\\p{scx=Nkoo}\\p{scx=Mong}\\p{scx=Deva}\\p{scx=Beng}\\p{scx=Guru}\\p{scx=Gujr}' +
  '\\p{scx=Orya}\\p{scx=Taml}\\p{scx=Telu}\\p{scx=Knda}\\p{scx=Mlym}\\p{scx=Sinh}\\p{scx=Khmr}\\p{scx=Mymr}\\p{scx=Tibt}]';
const shapedBefore = new RegExp(`${shaping}$`, 'u');
const shapedAfter = new RegExp(`^${shaping}`, 'u');

/** Whether a run of ignorable characters serves its purpose. Other runs are removed. */
function keeps(run: string, text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - 2), at);
  if (joiner.test(run)) {
    const after = text.slice(at + 1, at + 3);
    if (run === '\u200d' && emojiEnd.test(before) && /^\p{Extended_Pictographic}/u.test(after)) return true;
    return shapedBefore.test(before) && shapedAfter.test(after);
  }
  // An emoji with its selector, maybe joined to another.
  if (run === '\ufe0f' || run === '\ufe0e') return /\p{Emoji}$/u.test(before);
  if (run === '\ufe0f\u200d')
    return /\p{Emoji}$/u.test(before) && /^\p{Extended_Pictographic}/u.test(text.slice(at + 2, at + 4));
  if (/^[\ufe00-\ufe02]$|^[\u{e0100}-\u{e01ef}]$/u.test(run)) return /\p{sc=Han}$/u.test(before);
  if (/^[\u180b-\u180d\u180f]$/.test(run)) return /\p{sc=Mong}$/u.test(before);
  return before === '🏴' && flagTags.has(run);
}

function tagged(letters: string): string {
  return `${[...letters].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('')}\u{e007f}`;
}
