import { remoteError } from '../../contract/remote-errors.ts';
import { encodeKey, type Key, maxRepeat, normalModes, parseKey } from '../../engine/input/keys.ts';

/** The reference's keys, each with our own name for it. */
const plainKeys = { enter: 'Enter', escape: 'Escape', backspace: 'Backspace', space: 'Space' } as const;
const modifiable = {
  delete: 'Delete',
  arrow_up: 'ArrowUp',
  arrow_down: 'ArrowDown',
  arrow_left: 'ArrowLeft',
  arrow_right: 'ArrowRight',
  home: 'Home',
  end: 'End',
  page_up: 'PageUp',
  page_down: 'PageDown',
  insert: 'Insert',
} as const;

/** In the order of the reference. */
export const shellKeys = [
  ...(['ctrl_a', 'ctrl_c', 'ctrl_d', 'ctrl_e', 'ctrl_k', 'ctrl_l', 'ctrl_r', 'ctrl_u', 'ctrl_w', 'ctrl_z'] as const),
  ...(['enter', 'tab', 'escape', 'backspace', 'space', 'delete'] as const),
  ...([
    'arrow_up',
    'arrow_down',
    'arrow_left',
    'arrow_right',
    'home',
    'end',
    'page_up',
    'page_down',
    'insert',
  ] as const),
  ...(['f1', 'f2', 'f3', 'f4', 'f5', 'f6', 'f7', 'f8', 'f9', 'f10', 'f11', 'f12'] as const),
] as const;
export type ShellKey = (typeof shellKeys)[number];

/** In the order in which they are printed. */
export const modifierNames = ['shift', 'alt', 'ctrl'] as const;
export type Modifier = (typeof modifierNames)[number];

/** What a key sends (docs/requirements/remote.md section 1.2). Throws MODIFIER_NOT_ALLOWED and INVALID_REPEAT. */
export function shellKey(key: ShellKey, modifiers: readonly Modifier[], repeat: number): Uint8Array {
  if (!Number.isInteger(repeat) || repeat < 1 || repeat > maxRepeat) {
    throw remoteError('INVALID_REPEAT', `repeat must be a whole number from 1 to ${maxRepeat}`, {
      context: `repeat=${repeat}`,
    });
  }
  const wrong = modifiers.find((modifier) => !allows(key, modifier));
  if (wrong !== undefined) {
    throw remoteError('MODIFIER_NOT_ALLOWED', `${key} does not take ${wrong}`, {
      context: key === 'tab' ? 'tab takes shift only' : `${key} takes none`,
    });
  }
  return encodeKey(withModifiers(key, modifiers), normalModes, repeat, 'fixed');
}

function allows(key: ShellKey, modifier: Modifier): boolean {
  if (key === 'tab') return modifier === 'shift';
  return key in modifiable || /^f\d/.test(key);
}

function withModifiers(key: ShellKey, modifiers: readonly Modifier[]): Key {
  const [, letter] = /^ctrl_(.)$/.exec(key) ?? [];
  if (letter !== undefined) return parseKey(`Ctrl+${letter}`);
  const name = { ...plainKeys, ...modifiable, tab: 'Tab' }[key as string] ?? key.toUpperCase();
  return {
    ...parseKey(name),
    shift: modifiers.includes('shift'),
    alt: modifiers.includes('alt'),
    ctrl: modifiers.includes('ctrl'),
  };
}
