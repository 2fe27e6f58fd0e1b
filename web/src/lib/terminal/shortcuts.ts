/** What a key means to the page although the terminal has the focus. Every other key belongs to the program. */
export type Shortcut =
  | 'leave'
  | 'find'
  | 'copy'
  | 'paste'
  | 'rail'
  | 'text'
  | 'up'
  | 'down'
  | 'block_up'
  | 'block_down';

type Pressed = Pick<KeyboardEvent, 'key' | 'code' | 'ctrlKey' | 'shiftKey' | 'altKey' | 'metaKey'>;

const letters: Readonly<Record<string, Shortcut>> = {
  KeyF: 'find',
  KeyC: 'copy',
  KeyV: 'paste',
  KeyB: 'rail',
  KeyL: 'text',
  ArrowUp: 'block_up',
  ArrowDown: 'block_down',
};

/** `isLeave`: whether this is the key that leaves, which a person may change. */
export function shortcutOf(event: Pressed, isLeave: boolean, isMac: boolean): Shortcut | undefined {
  if (isLeave) return 'leave';
  const { code, ctrlKey, shiftKey, altKey, metaKey } = event;
  if (altKey) return undefined;
  if (shiftKey && !ctrlKey && !metaKey) return code === 'PageUp' ? 'up' : code === 'PageDown' ? 'down' : undefined;
  if (isMac && metaKey && !ctrlKey) return letters[code];
  return ctrlKey && shiftKey && !metaKey ? letters[code] : undefined;
}
