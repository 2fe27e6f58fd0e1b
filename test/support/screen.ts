import fc from 'fast-check';
import { ManualClock } from './clocks/manual.ts';
import { Screen, type ScreenOptions } from '../../src/engine/screen/screen.ts';

export const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

export interface Heard {
  readonly screen: Screen;
  readonly replies: string[];
  readonly events: string[];
}

export function makeScreen(options: Partial<ScreenOptions> & { cols?: number; rows?: number } = {}): Heard {
  const { cols = 20, rows = 5, ...rest } = options;
  const replies: string[] = [];
  const events: string[] = [];
  const screen = new Screen({
    size: { cols, rows },
    clock: new ManualClock(),
    reply: (bytes) => replies.push(new TextDecoder().decode(bytes)),
    ...rest,
  });
  screen.events.on((event) => events.push(JSON.stringify(event)));
  return { screen, replies, events };
}

/** Everything that can be seen of a screen, to compare two of them. */
export function everything(screen: Screen): unknown {
  const { facts } = screen;
  return {
    facts,
    size: screen.size,
    grid: screen.grid({ from: facts.baseRow, rows: facts.scrollbackRows + screen.size.rows }),
    snapshot: screen.snapshot({ scrollback: 10_000 }),
  };
}

const one = (characters: string): fc.Arbitrary<string> => fc.constantFrom(...characters.split(''));
const word = fc.string({ unit: one('abcxyz 019._-/'), minLength: 1, maxLength: 30 });
const joined = '👩\u200d💻';
const wide = fc.constantFrom('漢', '字', 'é', 'e\u0301', '…', '—', '🙂', joined, '\u200b', 'ｗ', '½', '👍🏽', '\u0301');
const sgr = fc.constantFrom(
  ...'0||1|2|3|4|7|9|22|24|31|42|97|104|39|49|38;5;200|48;2;1;2;3'.split('|'),
  ...'4:3|58;5;3|21|5|8|53|38:2::9:8:7|1;31;44|0;32'.split('|'),
);

const links = ['\x1b]8;;http://x/m\x1b\\', '\x1b]8;id=1;http://y/\x07', '\x1b]8;;\x1b\\'];

/** Everything a program can set in a terminal: how to set it, and what looks different after it. */
export const states: readonly (readonly [what: string, set: string, then: string])[] = [
  ['line feed with return', 'ab\x1b[20h', 'c\nd\ne'],
  ['line feed without return again', 'ab\x1b[20h\x1b[20l', 'c\nd'],
  ['drawing characters in G0', '\x1b(0', 'lqqk\x1b(Blqqk'],
  ['British characters in G0', '\x1b(A', '#'],
  ['drawing characters in G1, shifted out', '\x1b)0\x0e', 'qqq\x0fqqq'],
  ['drawing characters in G1, not yet used', '\x1b)0', 'q\x0eqqq\x0fq'],
  ['drawing characters in G2 and G3', '\x1b*0\x1b+0', 'q\x1bnq\x1boq\x0fq'],
  ['drawing characters in G2, used', '\x1b*0\x1bn', 'qqq\x0fq'],
  ['a saved cursor', 'abc\x1b7\x1b[4;9Hx', '\x1b8restored'],
  ['a saved cursor with its pen', '\x1b[1;3;31;44mabc\x1b7\x1b[0m\x1b[4;9Hx', '\x1b8restored'],
  ['a saved cursor with its characters', 'a\x1b(0\x1b7\x1b(B\x1b[4;9Hx', '\x1b8qqq'],
  ['a saved cursor that waits to wrap', `${'x'.repeat(20)}\x1b7\x1b[4;9Hx`, '\x1b8wrapped'],
  ['a cursor saved by CSI s', 'abc\x1b[s\x1b[4;9Hx', '\x1b[urestored'],
  ['a saved cursor under an alternate screen', 'ab\r\ncd\x1b[31m\x1b[?1049h\x1b[0m\x1b[Hmenu', '\x1b[?1049lback'],
  [
    'a saved cursor on an alternate screen',
    'ab\x1b[?1049h\x1b[3;3H\x1b[32m\x1b7\x1b[0m\x1b[Hmenu',
    '\x1b8x\x1b[?1049ly',
  ],
  ['an alternate screen without a saved cursor', 'ab\r\ncd\x1b[?47hmenu', '\x1b[?47lback'],
  ['tab stops', '\x1b[3g\x1b[5G\x1bH\x1b[12G\x1bH\x1b[1G', '\ta\tb\tc'],
  ['no tab stops', '\x1b[3g', '\ta'],
  ['one more tab stop', '\x1b[3G\x1bH\x1b[1G', '\ta\tb'],
  ['insert', 'abcdef\x1b[4h\x1b[2G', 'XY'],
  ['margins', '\x1b[2;4r\x1b[3;1Hx', '\r\n1\r\n2\r\n3\r\n4'],
  ['margins and origin', '\x1b[2;4r\x1b[?6h\x1b[1;1Htop', '\x1b[2;1Hsecond'],
  ['a cursor saved within margins', '\x1b[2;4r\x1b[4;3H\x1b7\x1b[?6h\x1b[1;1Htop', '\x1b8there\x1b[1;1Hone'],
  ['no wrapping', '\x1b[?7l', `${'z'.repeat(30)}\r\nend`],
  ['wrapping backwards', '\x1b[?45hab\r\n', '\b\bX'],
  ['a cursor that waits to wrap', 'q'.repeat(20), 'r'],
  ['a wide character that did not fit', '漢'.repeat(10), '字'],
  ['application cursor keys and keypad', '\x1b[?1h\x1b=', 'x'],
  ['mouse reports', '\x1b[?1002h\x1b[?1006h', 'x'],
  ['pixel mouse reports', '\x1b[?1003h\x1b[?1016h', 'x'],
  ['bracketed paste and focus reports', '\x1b[?2004h\x1b[?1004h', 'x'],
  ['cursor shape', '\x1b[5 q', 'x'],
  ['a steady cursor', '\x1b[4 q', 'x'],
  ['no cursor', '\x1b[?25lhid', 'more'],
  ['a title', '\x1b]2;one\x07', 'x'],
  ['a pen of every kind', '\x1b[1;2;3;4;5;7;8;9;53;38;5;99;48;2;1;2;3mab', 'cd'],
  ['underlines of other kinds and colours', '\x1b[4:3;58;5;196mab', 'cd'],
  ['scrolled rows', Array.from({ length: 30 }, (_, i) => i).join('\r\n'), '\r\nend'],
];

/** Output such as build logs are made of: only what fast-forward follows. */
export const plainPiece: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: word },
  { weight: 6, arbitrary: fc.constant('\r\n') },
  { weight: 2, arbitrary: wide },
  { weight: 2, arbitrary: sgr.map((codes) => `\x1b[${codes}m`) },
  { weight: 1, arbitrary: fc.constantFrom('\t', '\r', '\n', '\b', '\x1b[K', '\x1b[1K', '\x1b[2K', ...links) },
);

const modes = '1|4|6|7|12|25|45|47|66|1000|1004|1006|1049|2004'.split('|');
const others = [
  ...'\x1b7|\x1b8|\x1bM|\x1bD|\x1bE|\x1bH|\x1bc|\x1b=|\x1b>|\x1b(0|\x1b(B|\x1b#8|\x0e|\x0f|\x07|\x7f'.split('|'),
  ...'\x1b[4h|\x1b[4l|\x1b[3J|\x1b[2J|\x1b[r|\x1b[!p|\x1b[3g|\x1b[2 q|\x1b[5 q|\x1b[22t|\x1b[23t'.split('|'),
  ...'\x1b]0;title\x07|\x1b]2;other\x1b\\|\x1b[6n'.split('|'),
  ...'\x1b[20h|\x1b[20l|\x1b)0|\x1b)B|\x1b*0|\x1b+A|\x1bn|\x1bo|\x1b[?1048h|\x1b[?1048l'.split('|'),
];

/** Anything a program may print. */
export const anyPiece: fc.Arbitrary<string> = fc.oneof(
  { weight: 16, arbitrary: plainPiece },
  {
    weight: 2,
    arbitrary: fc
      .tuple(one('ABCDEFGHIJKLMPSTXZ@`abdefghlrsu'), fc.nat(7), fc.nat(25))
      .map(([final, a, b]) => `\x1b[${a};${b}${final}`),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.constantFrom(...modes), one('hl')).map(([mode, set]) => `\x1b[?${mode}${set}`),
  },
  { weight: 1, arbitrary: fc.constantFrom(...others) },
);
