import fc from 'fast-check';
import { ManualClock } from './manual-clock.ts';
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
