/** More than this is not pasted: what is so long belongs into a file. */
export const mostPasted = 256 << 10;

export type PastePlan =
  | { readonly kind: 'send'; readonly keys: string }
  /** Each line would run as soon as it is there. */
  | { readonly kind: 'ask'; readonly keys: string; readonly lines: number }
  | { readonly kind: 'refuse'; readonly bytes: number };

/** What becomes of a text from the clipboard. `isBracketed`: the program can tell a paste from typing. */
export function planPaste(text: string, isBracketed: boolean, asks = true): PastePlan {
  const bytes = new TextEncoder().encode(text).length;
  if (bytes > mostPasted) return { kind: 'refuse', bytes };
  const typed = text.replaceAll(/\r?\n/g, '\r');
  // A paste end inside would let the rest through as keys.
  if (isBracketed) return { kind: 'send', keys: `\x1b[200~${typed.replaceAll('\x1b[201~', '')}\x1b[201~` };
  const lines = linesOf(typed);
  return lines > 1 && asks ? { kind: 'ask', keys: typed, lines } : { kind: 'send', keys: typed };
}

/** `a\r` is one line, and `a\rb` are two. */
const linesOf = (typed: string): number => typed.split('\r').length - (typed.endsWith('\r') ? 1 : 0);
