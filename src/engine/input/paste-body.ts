import { FairleadError } from '../../contract/errors.ts';

export const submitModes = ['enter', 'newline', 'crlf', 'raw', 'paste'] as const;
export type SubmitMode = (typeof submitModes)[number];

const maxTextBytes = 256 << 10;

/** What each mode appends. */
export const ends: Readonly<Record<SubmitMode, string>> = {
  enter: '\r',
  newline: '\n',
  crlf: '\r\n',
  raw: '',
  paste: '\r',
};

export function checkText(text: string): void {
  if (Buffer.byteLength(text) <= maxTextBytes) return;
  throw new FairleadError('too_large', `The text is over ${maxTextBytes} bytes.`, {
    hint: 'Send it in pieces, or write it to a file and let the program read that.',
  });
}

/** A paste, or without brackets the same keys a person would press. */
export function pasteBody(text: string, wrapped: boolean): string {
  const body = withoutPasteEnds(text.replace(/\r?\n$/, ''));
  return wrapped ? `\x1b[200~${body}\x1b[201~` : body.replace(/\r?\n/g, '\r');
}

/** A paste-end inside the text would let the rest of it act as keystrokes. */
export function withoutPasteEnds(text: string): string {
  let rest = text;
  // Taking one out may put another together.
  for (let before = ''; before !== rest; ) {
    before = rest;
    rest = rest.replace(/(?:\x1b\[|\x9b)20[01]~/g, '');
  }
  return rest;
}
