/** Ids that two programs must agree on. Short, because models retype them; opaque and never reused. */

const hex = '0123456789abcdef';

type RandomBytes = (count: number) => Uint8Array;

/** Five hex characters with at least one letter, so that it can never be read as the number of a terminal. */
export function newTerminalId(random: RandomBytes, taken: (id: string) => boolean): string {
  for (;;) {
    const id = [...random(5)].map((byte) => hex[byte & 15]).join('');
    if (/[a-f]/.test(id) && !taken(id)) return id;
  }
}

export const isTerminalId = (word: unknown): word is string =>
  typeof word === 'string' && /^[0-9a-f]{5}$/.test(word) && /[a-f]/.test(word);

/** 5 hex characters, or the decimal number of the session RPC. */
export type TerminalRef = string | number;
