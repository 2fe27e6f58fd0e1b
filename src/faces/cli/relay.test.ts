import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Relay } from './relay.ts';

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');
/** What leaving undoes after a program wrote this, less what is always written. */
function undone(text: string): string {
  const relay = new Relay();
  relay.pass(bytes(text));
  const undo = relay.undo();
  expect(undo).toMatch(/^\x1b\[0m\x0f\x1b\(B.*\x1b\[23;0t$/s);
  return undo.slice('\x1b[0m\x0f\x1b(B'.length, -'\x1b[23;0t'.length);
}

test.each([
  ['mouse, as vim sets it', '\x1b[?1000h\x1b[?1006;1002h', '\x1b[?1000l\x1b[?1006l\x1b[?1002l'],
  ['application cursor and keypad keys', '\x1b[?1h\x1b=', '\x1b[?1l\x1b>'],
  ['bracketed paste and focus reports', '\x1b[?2004h\x1b[?1004h', '\x1b[?2004l\x1b[?1004l'],
  ['what the program undid itself', '\x1b[?2004h\x1b=\x1b[?2004l\x1b>', ''],
  ['a hidden cursor of another shape', '\x1b[?25l\x1b[5 q', '\x1b[?25h\x1b[0 q'],
  ['no wrapping', '\x1b[?7l', '\x1b[?7h'],
  ['the alternate screen, only where it is shown', '\x1b[?1049h', '\x1b[?1049l'],
  ['the alternate screen that was left', '\x1b[?1049h\x1b[?1049l', ''],
  ['margins, after the screen they are on', '\x1b[2;5r\x1b[?1049h', '\x1b[?1049l\x1b7\x1b[r\x1b8'],
  ['keyboard modes of both screens', '\x1b[>1u\x1b[?1049h\x1b[>5u\x1b[>5u\x1b[<u', '\x1b[<1u\x1b[?1049l\x1b[<1u'],
  ['modified keys of xterm', '\x1b[>4;2m', '\x1b[>4m'],
  ['titles put aside', '\x1b[22;0t\x1b[22;1t\x1b[23;0t', '\x1b[23;0t'],
  ['colours of the palette', '\x1b]4;1;rgb:00/ff/00\x07\x1b]11;#000\x1b\\', '\x1b]104\x1b\\\x1b]111\x1b\\'],
  ['an open link', '\x1b]8;;https://example.com\x1b\\word', '\x1b]8;;\x1b\\'],
  ['everything, by a full reset', '\x1b[?1000h\x1b=\x1b[?1049h\x1bc', ''],
])('leaving undoes: %s', (_, text, undo) => {
  expect(undone(text)).toBe(undo);
});

test('the title that was put aside for the person is not fetched back by a program', () => {
  const relay = new Relay();
  expect(relay.pass(bytes('\x1b[23;0t\x1b[22;2t\x1b[23;2t\x1b[23;2t')).toString()).toBe('\x1b[22;2t\x1b[23;2t');
});

test('what the screen of the session has answered is not asked again', () => {
  const asked =
    '\x1b[c\x1b[>c\x1b[=0c\x1b[5n\x1b[6n\x1b[?6n\x1b[?2026$p\x1b[>0q\x1b[18t\x1bP$qm\x1b\\\x1b]11;?\x07\x05';
  expect(new Relay().pass(bytes(`a${asked}b`)).toString()).toBe('ab');
});

test('however output is cut, everything else passes, and in order', () => {
  const piece = fc.constantFrom(
    '\x1b[1;31m',
    'é',
    '\x1b[?1049h',
    '\x1b]2;title\x07',
    '\r\n',
    '\x1b[6n',
    '\x1b',
    '\x1b[2J',
    'x',
  );
  fc.assert(
    fc.property(fc.array(piece), fc.array(fc.nat(40)), (pieces, cuts) => {
      const all = Buffer.from(`${pieces.join('')}.`);
      const whole = new Relay();
      const cut = new Relay();
      const parts: Buffer[] = [];
      let at = 0;
      for (const length of cuts) parts.push(cut.pass(all.subarray(at, (at += length))));
      parts.push(cut.pass(all.subarray(at)));
      expect(Buffer.concat(parts).toString()).toBe(whole.pass(all).toString());
      expect(cut.undo()).toBe(whole.undo());
    }),
  );
});

test('an image of any length passes without being kept', () => {
  const relay = new Relay();
  const image = bytes(`\x1bPq${'~'.repeat(100_000)}`);
  expect(relay.pass(image)).toHaveLength(image.length);
  expect(relay.pass(bytes('~~\x1b\\done')).toString()).toBe('~~\x1b\\done');
});

test.each([
  ['writes to the clipboard', '\x1b]52;c;cm0gLXJmIC8=\x07'],
  ['a clipboard longer than is kept', `\x1b]52;c;${'A'.repeat(100_000)}\x1b\\`],
  ['reports of title, size and place', '\x1b[11t\x1b[13t\x1b[14t\x1b[15t\x1b[16t\x1b[18t\x1b[19t\x1b[20t\x1b[21t'],
  ['windows moved, resized and hidden', '\x1b[3;0;0t\x1b[8;5;5t\x1b[2t\x1b[9;1t'],
  ['the printer', '\x1b[i\x1b[5i\x1b[4i\x1b[?5i\x1b[?1i'],
  ['terminal state of any kind', '\x1b[x\x1b[?15n\x1b[1;1;1;1;5;5*y\x1b[?u\x1b[2$w\x1b[?1;1S\x1bZ'],
  ['keys that are programmed', '\x1bP0;1|17/726d\x1b\\'],
  ['what tmux hands on', '\x1bPtmux;\x1b\x1b]52;c;eA==\x07\x1b\\'],
  ['terminfo asked for and set', '\x1bP+q544e\x1b\\\x1bP+p544e\x1b\\'],
  [
    'files of iTerm, graphics of kitty, other strings',
    '\x1b]1337;File=:eA==\x07\x1b_Gt=f;L2V0Yw==\x1b\\\x1b^x\x1b\\\x1bXx\x1b\\',
  ],
  ['fonts and properties of X', '\x1b]50;x\x07\x1b]3;A=b\x07'],
  ['the same as C1 controls in UTF-8', '\xc2\x9d52;c;eA==\xc2\x9c\xc2\x9b21t'],
  ['another character set, in which single bytes are C1 controls', '\x1b%@\x1b%G\x1b%/G\x1b G'],
  ['palette, title stack, key formats and pointer asked for', '\x1b[#R\x1b[#S\x1b[?4m\x1b[?1g\x1b[?1f\x1b]22;?x\x07'],
  ['the height of the window', '\x1b[50*|'],
  ['controls in the middle', '\x1b[2\x051t\x1b[\x0021t'],
])('the terminal of the person never sees: %s', (_, text) => {
  for (const size of [1, 3, 4096, 1 << 20]) {
    const relay = new Relay();
    let passed = '';
    const all = bytes(`<${text}>`);
    for (let at = 0; at < all.length; at += size) passed += relay.pass(all.subarray(at, at + size)).toString('latin1');
    expect(passed).not.toMatch(/\x1b|\x9d|\x9b|\x05/);
    expect(passed.startsWith('<') && passed.endsWith('>')).toBe(true);
  }
});

test('a title that hides a second sequence is dropped whole', () => {
  const hidden = '\x1b]2;a\xc2\x9c\xc2\x9d52;c;eA==\x07b';
  expect(new Relay().pass(bytes(hidden)).toString('latin1')).toBe('b');
});

test('an image that stops in the middle is closed, and what follows is read as ever', () => {
  const out = new Relay().pass(bytes('\x1bPq~~\x1b]52;c;eA==\x07text')).toString();
  expect(out).toBe('\x1bPq~~\x1b\\text');
});

test('whatever a program prints, what passed once passes again unchanged, and little is remembered', () => {
  const atoms =
    '\x1b [ ] P _ 52;c; ? 5 i 21t n q \x07 \\ \x18 \x05 \xc2 \x9d \x9b \x9c h u > ; x \r $ | \x7f \xe2 \x00'.split(' ');
  const atom = fc.constantFrom(...atoms);
  fc.assert(
    fc.property(fc.array(atom, { maxLength: 60 }), (pieces) => {
      const once = new Relay().pass(bytes(`${pieces.join('')}\x18.`));
      expect(new Relay().pass(once).toString('latin1')).toBe(once.toString('latin1'));
    }),
    { numRuns: 2000 },
  );
  const relay = new Relay();
  for (let mode = 1; mode < 20_000; mode++) relay.pass(bytes(`\x1b[?${mode}h\x1b[22t`));
  expect(relay.undo().length).toBeLessThan(4000);
});
