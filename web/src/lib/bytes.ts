/** Bytes that a person decides on, in pieces: text as it is, and a chip for each character that cannot be seen. */
export type BytesPiece =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'chip';
      /** In the chip: `Enter`, `\x07`, `U+202E`. */
      readonly word: string;
      /** What a screen reader says. */
      readonly spoken: string;
      /** The character itself, and how often it stands here in a row. */
      readonly raw: string;
      readonly times: number;
      readonly isInvisible: boolean;
      /** The next piece stands in a new line. */
      readonly endsLine: boolean;
    };

const keys: Readonly<Record<string, string>> = {
  '\n': 'Enter',
  '\r': 'Enter',
  '\t': 'Tab',
  '\x1b': 'Esc',
  '\x7f': 'Backspace',
  '\x03': 'Ctrl+C',
  '\x04': 'Ctrl+D',
  '\x1a': 'Ctrl+Z',
  '\x1c': 'Ctrl+\\',
};

/** Changes the direction of text, joins or separates without being seen, or is a tag. The same set as `visible()` escapes, without control bytes. */
const unseen =
  /[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\ufff9-\ufffb\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\p{Surrogate}]/u;
const control = /[\0-\x1f\x7f-\x9f]/;
/** So many equal chips in a row are one chip with a number. */
const foldFrom = 4;

export function piecesOf(text: string): BytesPiece[] {
  const pieces: BytesPiece[] = [];
  const characters = [...text];
  let plain = '';
  const flush = (): void => {
    if (plain !== '') pieces.push({ kind: 'text', text: plain });
    plain = '';
  };
  for (let at = 0; at < characters.length; at++) {
    const raw = characters[at] ?? '';
    if (!unseen.test(raw)) {
      plain += raw;
      continue;
    }
    flush();
    const isPair = raw === '\r' && characters[at + 1] === '\n';
    if (isPair) at++;
    let times = 1;
    if (!isPair && !isLineEnd(raw)) {
      while (characters[at + times] === raw) times++;
      if (times < foldFrom) times = 1;
      at += times - 1;
    }
    pieces.push(chip(isPair ? '\r\n' : raw, times));
  }
  flush();
  return pieces;
}

const isLineEnd = (raw: string): boolean => raw === '\n' || raw === '\r';

function chip(raw: string, times: number): BytesPiece {
  const isInvisible = !control.test(raw);
  const code = raw.codePointAt(0) ?? 0;
  const name = isInvisible
    ? `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
    : (keys[raw[0] ?? ''] ?? `\\x${code.toString(16).padStart(2, '0')}`);
  return {
    kind: 'chip',
    word: times > 1 ? `${name} ×${times.toLocaleString('en')}` : name,
    spoken: isInvisible ? 'invisible character' : `${name} key`,
    raw,
    times,
    isInvisible,
    endsLine: isLineEnd(raw[0] ?? ''),
  };
}

/** How many characters of a text change it without being seen. */
export const countInvisible = (text: string): number =>
  [...text].filter((one) => unseen.test(one) && !control.test(one)).length;

const encoder = new TextEncoder();
export const byteLength = (text: string): number => encoder.encode(text).length;
