/** A modifier of the key bar: off, for the next key, or until it is tapped again. */
export type Held = 'off' | 'once' | 'locked';

/** A second tap within this time locks. */
const doubleMs = 400;

export function tapped(held: Held, sinceTapMs: number): Held {
  if (held === 'off') return 'once';
  return held === 'once' && sinceTapMs < doubleMs ? 'locked' : 'off';
}

/** After a key the modifiers for one key are off. */
export const afterKey = (held: Held): Held => (held === 'once' ? 'off' : held);

const arrows: Readonly<Record<string, string>> = { up: 'A', down: 'B', right: 'C', left: 'D' };

/** What a key with these modifiers sends. `application`: the program wants its arrows so. */
export function keysFor(
  key: string,
  { ctrl, alt, application = false }: { readonly ctrl: boolean; readonly alt: boolean; readonly application?: boolean },
): string {
  const arrow = arrows[key];
  if (arrow !== undefined) {
    const held = 1 + (alt ? 2 : 0) + (ctrl ? 4 : 0);
    if (held > 1) return `\x1b[1;${held}${arrow}`;
    return `\x1b${application ? 'O' : '['}${arrow}`;
  }
  const plain = ctrl && key.length === 1 ? controlOf(key) : key;
  return alt ? `\x1b${plain}` : plain;
}

/** Ctrl with a letter or one of `@[\]^_?`; any other character stays what it is. */
function controlOf(key: string): string {
  const code = key.toUpperCase().charCodeAt(0);
  if (key === '?') return '\x7f';
  if (key === ' ') return '\0';
  return code >= 64 && code <= 95 ? String.fromCharCode(code - 64) : key;
}
