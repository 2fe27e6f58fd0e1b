import { FairleadError } from '../../contract/errors.ts';
import { closest } from '../../lib/closest.ts';

export interface KeyModes {
  /** DECCKM: the program wants arrows, Home and End as `ESC O x`. */
  readonly applicationCursor: boolean;
  /** DECKPAM: the program wants to tell keypad keys from digits. */
  readonly applicationKeypad: boolean;
}

export interface Key {
  /** Canonical name, `ArrowUp`, or one character. */
  readonly name: string;
  readonly shift: boolean;
  readonly alt: boolean;
  readonly ctrl: boolean;
  /** Its bytes depend on what the program has asked for, so the screen must be up to date first. */
  readonly usesModes: boolean;
}

/** `fixed` are the bytes the remote book documents: they follow no mode, and Home and End are always `ESC O H`, `ESC O F`. */
type KeyDialect = 'xterm' | 'fixed';

export const normalModes: KeyModes = { applicationCursor: false, applicationKeypad: false };
export const maxRepeat = 64;

/** How a key is written: one byte, `ESC [ letter`, `ESC O letter`, `ESC [ number ~`, or a keypad key with two faces. */
type Form =
  | { readonly c0: string }
  | { readonly cursor: string }
  | { readonly ss3: string }
  | { readonly tilde: number }
  | { readonly keypad: string; readonly plain: string };

// The order is the documented one: the error for an unknown key lists the first fifteen.
const forms: Readonly<Record<string, Form>> = {
  Enter: { c0: '\r' },
  Tab: { c0: '\t' },
  Escape: { c0: '\x1b' },
  Backspace: { c0: '\x7f' },
  Delete: { tilde: 3 },
  ArrowUp: { cursor: 'A' },
  ArrowDown: { cursor: 'B' },
  ArrowLeft: { cursor: 'D' },
  ArrowRight: { cursor: 'C' },
  Home: { cursor: 'H' },
  End: { cursor: 'F' },
  PageUp: { tilde: 5 },
  PageDown: { tilde: 6 },
  Insert: { tilde: 2 },
  F1: { ss3: 'P' },
  F2: { ss3: 'Q' },
  F3: { ss3: 'R' },
  F4: { ss3: 'S' },
  F5: { tilde: 15 },
  F6: { tilde: 17 },
  F7: { tilde: 18 },
  F8: { tilde: 19 },
  F9: { tilde: 20 },
  F10: { tilde: 21 },
  F11: { tilde: 23 },
  F12: { tilde: 24 },
  Space: { c0: ' ' },
  KeypadEnter: { keypad: 'M', plain: '\r' },
  KeypadMultiply: { keypad: 'j', plain: '*' },
  KeypadAdd: { keypad: 'k', plain: '+' },
  KeypadSubtract: { keypad: 'm', plain: '-' },
  KeypadDecimal: { keypad: 'n', plain: '.' },
  KeypadDivide: { keypad: 'o', plain: '/' },
  ...Object.fromEntries(
    Array.from({ length: 10 }, (_, digit) => [
      `Keypad${digit}`,
      { keypad: String.fromCharCode('p'.charCodeAt(0) + digit), plain: String(digit) },
    ]),
  ),
};

const letters = Array.from({ length: 26 }, (_, index) => String.fromCharCode(65 + index));

/** Every name the documentation lists, in its order. */
export const keyNames: readonly string[] = [
  ...Object.keys(forms).slice(0, 26),
  ...[...letters, '[', '\\', 'Space', ']', '^', '_'].map((name) => `Ctrl+${name}`),
  'Shift+Tab',
  ...Object.keys(forms).slice(26),
];

const aliases: Readonly<Record<string, string>> = {
  return: 'Enter',
  cr: 'Enter',
  esc: 'Escape',
  del: 'Delete',
  ins: 'Insert',
  up: 'ArrowUp',
  down: 'ArrowDown',
  left: 'ArrowLeft',
  right: 'ArrowRight',
  pgup: 'PageUp',
  pgdn: 'PageDown',
  pgdown: 'PageDown',
  spacebar: 'Space',
  bs: 'Backspace',
  backtab: 'Shift+Tab',
};

const byFolded = new Map<string, string>(Object.keys(forms).map((name) => [name.toLowerCase(), name]));
for (const [alias, name] of Object.entries(aliases)) byFolded.set(alias, name);
for (const name of Object.keys(forms).filter((each) => each.startsWith('Keypad'))) {
  byFolded.set(name.toLowerCase().replace('keypad', 'kp'), name);
  byFolded.set(name.toLowerCase().replace('keypad', 'numpad'), name);
}

const modifierWords: Readonly<Record<string, 'shift' | 'alt' | 'ctrl'>> = {
  ctrl: 'ctrl',
  control: 'ctrl',
  c: 'ctrl',
  alt: 'alt',
  meta: 'alt',
  option: 'alt',
  m: 'alt',
  shift: 'shift',
  s: 'shift',
};

/** `Ctrl+Shift+Up`, `ctrl_c`, `C-c`, `M-x`: the separator may be followed by itself, as in `Ctrl+_`. */
const modifierPrefix = /^(ctrl|control|alt|meta|option|shift)\s*[+\-_]\s*(?=.)|^([cms])-(?=.)/i;
const controlBytes: Readonly<Record<string, number>> = {
  Space: 0,
  '@': 0,
  '2': 0,
  '[': 0x1b,
  '3': 0x1b,
  '\\': 0x1c,
  // The reference's page prints the backslash doubled.
  '\\\\': 0x1c,
  '4': 0x1c,
  ']': 0x1d,
  '5': 0x1d,
  '^': 0x1e,
  '~': 0x1e,
  '6': 0x1e,
  _: 0x1f,
  '/': 0x1f,
  '-': 0x1f,
  '7': 0x1f,
  '?': 0x7f,
  '8': 0x7f,
};

/** Reads a key's name in any of its spellings. Throws `invalid_input` for what is no key. */
export function parseKey(spelling: string): Key {
  // A lone blank is the space bar; anything else may carry blanks around it.
  let rest = /^ +$/.test(spelling) ? 'Space' : spelling.trim();
  const modifiers = { shift: false, alt: false, ctrl: false };
  if (/^\^.$/u.test(rest)) {
    modifiers.ctrl = true;
    rest = rest.slice(1);
  }
  for (let match = modifierPrefix.exec(rest); match !== null; match = modifierPrefix.exec(rest)) {
    const word = modifierWords[(match[1] ?? match[2] ?? '').toLowerCase()];
    if (word === undefined) break;
    modifiers[word] = true;
    rest = rest.slice(match[0].length);
  }
  let name = byFolded.get(rest.toLowerCase()) ?? byFolded.get(rest.toLowerCase().replace(/[\s_-]/g, ''));
  if (name === 'Shift+Tab') {
    modifiers.shift = true;
    name = 'Tab';
  }
  if (name === undefined && /^[^\p{Cc}\p{Cs}\p{Z}]$/u.test(rest)) name = rest;
  if (name === undefined && rest === '\\\\') name = '\\';
  if (name === undefined) throw unknownKey(spelling);
  const form = forms[name];
  if (modifiers.ctrl && form === undefined && controlByte(name) === undefined) throw unknownKey(spelling);
  return { name, ...modifiers, usesModes: form !== undefined && ('cursor' in form || 'keypad' in form) };
}

/** Bytes of a key as the program expects them now, `repeat` times over. */
export function encodeKey(
  key: Key | string,
  modes: KeyModes = normalModes,
  repeat = 1,
  dialect: KeyDialect = 'xterm',
): Uint8Array {
  const parsed = typeof key === 'string' ? parseKey(key) : key;
  if (!Number.isInteger(repeat) || repeat < 1 || repeat > maxRepeat) {
    throw new FairleadError(
      'invalid_input',
      `Invalid repeat: ${repeat}. It must be a whole number from 1 to ${maxRepeat}.`,
      {
        hint: 'Call again for more presses.',
      },
    );
  }
  return new TextEncoder().encode(sequence(parsed, dialect === 'fixed' ? normalModes : modes, dialect).repeat(repeat));
}

function sequence(key: Key, modes: KeyModes, dialect: KeyDialect): string {
  const form = forms[key.name];
  if (form === undefined) return meta(key, character(key));
  const modifier = 1 + (key.shift ? 1 : 0) + (key.alt ? 2 : 0) + (key.ctrl ? 4 : 0);
  if ('tilde' in form) return modifier === 1 ? `\x1b[${form.tilde}~` : `\x1b[${form.tilde};${modifier}~`;
  if ('keypad' in form)
    return modes.applicationKeypad && modifier === 1 ? `\x1bO${form.keypad}` : meta(key, form.plain);
  if ('c0' in form) return meta(key, c0(key, form.c0));
  if (modifier !== 1) return `\x1b[1;${modifier}${'ss3' in form ? form.ss3 : form.cursor}`;
  if ('ss3' in form) return `\x1bO${form.ss3}`;
  const homeOrEnd = key.name === 'Home' || key.name === 'End';
  return modes.applicationCursor || (dialect === 'fixed' && homeOrEnd) ? `\x1bO${form.cursor}` : `\x1b[${form.cursor}`;
}

const meta = (key: Key, bytes: string): string => (key.alt ? `\x1b${bytes}` : bytes);

function c0(key: Key, plain: string): string {
  if (key.name === 'Tab' && key.shift) return '\x1b[Z';
  if (key.name === 'Space' && key.ctrl) return '\0';
  if (key.name === 'Backspace' && key.ctrl) return '\b';
  return plain;
}

function character(key: Key): string {
  if (key.ctrl) return String.fromCharCode(controlByte(key.name) ?? 0);
  return key.shift ? key.name.toUpperCase() : key.name;
}

function controlByte(name: string): number | undefined {
  return /^[a-z]$/i.test(name) ? name.toLowerCase().charCodeAt(0) - 0x60 : controlBytes[name];
}

function unknownKey(spelling: string): FairleadError {
  const wanted = spelling.trim();
  // Of a chord that ends in a character, that character is what was meant: Ctrl+1 is not nearly Ctrl+A.
  const last = /[+-](.)$/.exec(wanted)?.[1]?.toLowerCase();
  const names = last === undefined ? keyNames : keyNames.filter((name) => name.toLowerCase().endsWith(`+${last}`));
  const [near] = closest(wanted, names, 1);
  const listed = keyNames.slice(0, 15).join(', ');
  const suggestion = near === undefined ? '' : ` Did you mean ${near}?`;
  // No hint: the documented text is all there is.
  return new FairleadError(
    'invalid_input',
    `Unknown key: "${spelling}". Available keys include: ${listed}, ...${suggestion}`,
  );
}
