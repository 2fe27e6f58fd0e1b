import { describe, expect, it } from 'vitest';
import { encodeKey, keyNames, parseKey } from './keys.ts';

const normal = { applicationCursor: false, applicationKeypad: false };
const application = { applicationCursor: true, applicationKeypad: true };
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const press = (name: string, modes = normal): string => text(encodeKey(name, modes));
const message = (run: () => unknown): string => {
  try {
    run();
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
  return 'did not throw';
};

describe('R-TERM-043 sequences', () => {
  it.each([
    ['Enter', '\r'],
    ['Tab', '\t'],
    ['Escape', '\x1b'],
    ['Backspace', '\x7f'],
    ['Delete', '\x1b[3~'],
    ['ArrowUp', '\x1b[A'],
    ['ArrowDown', '\x1b[B'],
    ['ArrowRight', '\x1b[C'],
    ['ArrowLeft', '\x1b[D'],
    ['Home', '\x1b[H'],
    ['End', '\x1b[F'],
    ['PageUp', '\x1b[5~'],
    ['PageDown', '\x1b[6~'],
    ['Insert', '\x1b[2~'],
    ['F1', '\x1bOP'],
    ['F2', '\x1bOQ'],
    ['F3', '\x1bOR'],
    ['F4', '\x1bOS'],
    ['F5', '\x1b[15~'],
    ['F6', '\x1b[17~'],
    ['F7', '\x1b[18~'],
    ['F8', '\x1b[19~'],
    ['F9', '\x1b[20~'],
    ['F10', '\x1b[21~'],
    ['F11', '\x1b[23~'],
    ['F12', '\x1b[24~'],
    ['Ctrl+A', '\x01'],
    ['Ctrl+C', '\x03'],
    ['Ctrl+Z', '\x1a'],
    ['Ctrl+[', '\x1b'],
    ['Ctrl+\\', '\x1c'],
    ['Ctrl+\\\\', '\x1c'],
    ['Ctrl+]', '\x1d'],
    ['Ctrl+^', '\x1e'],
    ['Ctrl+_', '\x1f'],
    ['Ctrl+Space', '\0'],
    ['Ctrl+@', '\0'],
    ['Shift+Tab', '\x1b[Z'],
    ['Space', ' '],
  ])('%s', (name, bytes) => expect(press(name)).toBe(bytes));

  it.each([
    ['ArrowUp', '\x1bOA'],
    ['ArrowDown', '\x1bOB'],
    ['ArrowRight', '\x1bOC'],
    ['ArrowLeft', '\x1bOD'],
    ['Home', '\x1bOH'],
    ['End', '\x1bOF'],
    ['PageUp', '\x1b[5~'],
    ['F5', '\x1b[15~'],
    ['Keypad0', '\x1bOp'],
    ['Keypad9', '\x1bOy'],
    ['KPEnter', '\x1bOM'],
    ['KeypadAdd', '\x1bOk'],
  ])('%s in application mode', (name, bytes) => expect(press(name, application)).toBe(bytes));

  it('writes the keypad as digits unless the program asked', () => {
    expect(press('kp_7')).toBe('7');
    expect(press('Numpad Enter')).toBe('\r');
  });

  it.each([
    ['Shift+Up', '\x1b[1;2A'],
    ['Alt+Left', '\x1b[1;3D'],
    ['Ctrl+Right', '\x1b[1;5C'],
    ['Ctrl+Shift+End', '\x1b[1;6F'],
    ['Ctrl+Alt+Shift+Home', '\x1b[1;8H'],
    ['Shift+F1', '\x1b[1;2P'],
    ['Ctrl+F5', '\x1b[15;5~'],
    ['Alt+Delete', '\x1b[3;3~'],
    ['Shift+PageUp', '\x1b[5;2~'],
    ['Alt+x', '\x1bx'],
    ['Alt+X', '\x1bX'],
    ['Alt+é', '\x1bé'],
    ['Ctrl+Alt+c', '\x1b\x03'],
    ['Alt+Enter', '\x1b\r'],
    ['Ctrl+Backspace', '\b'],
    ['Shift+a', 'A'],
  ])('%s in xterm modifier form, in either mode', (name, bytes) => {
    expect(press(name)).toBe(bytes);
    expect(press(name, application)).toBe(bytes);
  });

  it('repeats', () => {
    expect(text(encodeKey('Down', application, 3))).toBe('\x1bOB\x1bOB\x1bOB');
    expect(encodeKey('a', normal, 64)).toHaveLength(64);
    for (const repeat of [0, 65, 1.5, Number.NaN]) {
      expect(() => encodeKey('a', normal, repeat)).toThrow(expect.objectContaining({ code: 'invalid_input' }));
    }
  });
});

describe('R-TERM-042 names', () => {
  it.each([
    ['return', 'Enter'],
    ['  ENTER ', 'Enter'],
    ['Esc', 'Escape'],
    ['del', 'Delete'],
    ['Ins', 'Insert'],
    ['up', 'ArrowUp'],
    ['PgUp', 'PageUp'],
    ['pgdn', 'PageDown'],
    ['page_up', 'PageUp'],
    ['page-down', 'PageDown'],
    ['arrow_left', 'ArrowLeft'],
    ['f5', 'F5'],
    [' ', 'Space'],
  ])('%j is %s', (name, canonical) => expect(parseKey(name).name).toBe(canonical));

  it.each(['ctrl-c', 'C-c', '^C', '^c', 'ctrl_c', 'CTRL+C', 'Control+c', 'ctrl + c', 'Ctrl+Shift+C'])(
    '%j interrupts',
    (name) => expect(press(name)).toBe('\x03'),
  );

  it.each(['shift_tab', 'Shift-Tab', 'S-tab', 'backtab', 'BackTab'])('%j is a back-tab', (name) =>
    expect(press(name)).toBe('\x1b[Z'),
  );

  it('takes separators as characters after a modifier', () => {
    expect(press('^[')).toBe('\x1b');
    expect(press('^^')).toBe('\x1e');
    expect(press('Alt+-')).toBe('\x1b-');
    expect(press('M-+')).toBe('\x1b+');
  });

  it('knows which keys depend on modes', () => {
    expect(parseKey('Up').usesModes).toBe(true);
    expect(parseKey('kp0').usesModes).toBe(true);
    expect(parseKey('Enter').usesModes).toBe(false);
    expect(parseKey('Ctrl+C').usesModes).toBe(false);
  });

  it('encodes every name it lists', () => {
    expect(keyNames.filter((name) => encodeKey(name, normal).length === 0)).toEqual([]);
  });
});

describe('remote book, section 1.2 key bytes', () => {
  const fixed = (name: string): string => text(encodeKey(name, application, 1, 'fixed'));
  it.each([
    ['ctrl_a', '\x01'],
    ['ctrl_z', '\x1a'],
    ['enter', '\r'],
    ['tab', '\t'],
    ['shift_tab', '\x1b[Z'],
    ['escape', '\x1b'],
    ['backspace', '\x7f'],
    ['space', ' '],
    ['arrow_up', '\x1b[A'],
    ['arrow_down', '\x1b[B'],
    ['arrow_left', '\x1b[D'],
    ['arrow_right', '\x1b[C'],
    ['home', '\x1bOH'],
    ['end', '\x1bOF'],
    ['f1', '\x1bOP'],
    ['f4', '\x1bOS'],
    ['insert', '\x1b[2~'],
    ['delete', '\x1b[3~'],
    ['page_up', '\x1b[5~'],
    ['page_down', '\x1b[6~'],
    ['f5', '\x1b[15~'],
    ['f12', '\x1b[24~'],
  ])('%s', (name, bytes) => expect(fixed(name)).toBe(bytes));

  it('adds modifiers given apart from the name', () => {
    const key = { ...parseKey('home'), shift: true, ctrl: true };
    expect(text(encodeKey(key, normal, 1, 'fixed'))).toBe('\x1b[1;6H');
    expect(text(encodeKey({ ...parseKey('f5'), alt: true }, normal, 2, 'fixed'))).toBe('\x1b[15;3~\x1b[15;3~');
  });
});

describe('R-TERM-044 unknown keys', () => {
  it('lists the first fifteen names of the page', () => {
    expect(message(() => parseKey('InvalidKey'))).toBe(
      'Unknown key: "InvalidKey". Available keys include: Enter, Tab, Escape, Backspace, Delete, ArrowUp, ArrowDown, ' +
        'ArrowLeft, ArrowRight, Home, End, PageUp, PageDown, Insert, F1, ...',
    );
  });

  it('suggests what was meant', () => {
    expect(message(() => parseKey('Hoem'))).toMatch(/, F1, \.\.\. Did you mean Home\?$/);
    expect(message(() => parseKey('Entr'))).toMatch(/Did you mean Enter\?$/);
    expect(message(() => parseKey('Ctrl+Cc'))).toMatch(/Did you mean Ctrl\+C\?$/);
    expect(message(() => parseKey('Ctrll+C'))).toMatch(/Did you mean Ctrl\+C\?$/);
    for (const key of ['Ctrl+1', 'X!'])
      expect(
        message(() => parseKey(key)),
        key,
      ).not.toContain('Did you mean');
  });

  it.each(['', '   \t', 'F13', 'Ctrl+é', 'Ctrl+', 'ab', '\x1b', '\x03'])('refuses %j', (name) =>
    expect(() => parseKey(name)).toThrow(expect.objectContaining({ code: 'invalid_input' })),
  );
});
