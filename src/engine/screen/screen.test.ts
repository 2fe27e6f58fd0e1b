import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyPiece, encode, everything, makeScreen } from '../../../test/support/screen.ts';

const feed = (text: string, options = {}) => {
  const heard = makeScreen(options);
  heard.screen.feed(encode(text));
  return heard;
};

describe('reading', () => {
  test('R-TERM-051: soft-wrapped rows are joined or kept, trailing blank lines trimmed in both', () => {
    const { screen } = feed(`${'a'.repeat(25)}\r\nb\r\n\r\n   \r\n`);
    expect(screen.text({ scope: 'all', wrap: 'join' })).toBe(`${'a'.repeat(25)}\nb`);
    expect(screen.text({ scope: 'all', wrap: 'keep' })).toBe(`${'a'.repeat(20)}\naaaaa\nb`);
  });

  test('R-TERM-051: the viewport leaves out what scrolled away', () => {
    const { screen } = feed('1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7');
    expect(screen.text({ scope: 'viewport', wrap: 'keep' })).toBe('3\n4\n5\n6\n7');
    expect(screen.text({ scope: 'all', wrap: 'keep', fromRow: 5 })).toBe('6\n7');
    expect(screen.scrollbackRows).toBe(2);
  });

  test('R-TERM-051: on the alternate screen only that screen', () => {
    const { screen } = feed('1\r\n2\r\n3\r\n4\r\n5\r\n6\x1b[?1049h\x1b[Hmenu');
    expect(screen.alternate).toBe(true);
    expect(screen.text({ scope: 'all', wrap: 'join' })).toBe('menu');
    screen.feed(encode('\x1b[?1049l'));
    expect(screen.text({ scope: 'all', wrap: 'join' })).toBe('1\n2\n3\n4\n5\n6');
  });

  test('R-TERM-051: a terminal that shrank before its first full-screen program scrolls it within its height', () => {
    const { screen } = feed('$ less', { cols: 20, rows: 6 });
    screen.resize({ cols: 30, rows: 4 });
    screen.feed(encode('\x1b[?1049h\x1b[H1\r\n2\r\n3\r\n4\r\n5\r\n6'));
    expect(screen.text({ scope: 'viewport', wrap: 'keep' })).toBe('3\n4\n5\n6');
    expect(screen.cursor).toMatchObject({ x: 1, y: 3 });
  });

  test('a typed blank at a prompt is kept, a cell nothing was written to is not', () => {
    const { screen } = feed('a\x1b[3Cb $ ');
    expect(screen.text({ scope: 'all', wrap: 'join' })).toBe('a   b $ ');
  });

  test('a wide character that wraps leaves no blank in a joined line', () => {
    const { screen } = feed('aaa漢字', { cols: 4 });
    expect(screen.text({ scope: 'all', wrap: 'join' })).toBe('aaa漢字');
    expect(screen.rowTexts().slice(0, 3)).toEqual([
      { row: 0, text: 'aaa', wrapped: false },
      { row: 1, text: '漢字', wrapped: true },
      { row: 2, text: '', wrapped: false },
    ]);
  });

  test('the grid has the colours, styles and widths of every cell', () => {
    const { screen } = feed('\x1b[1;31mR\x1b[0;3;38;5;200;48;2;1;2;3m漢\x1b[0;4;7;9m!');
    const grid = screen.grid();
    expect(grid).toMatchObject({ cols: 20, rows: 5, cursor: { x: 4, y: 0, visible: true, shape: 'block' } });
    expect(grid.lines[0]?.cells.slice(0, 5)).toEqual([
      { text: 'R', width: 1, fg: 1, bg: -1, style: 1 },
      { text: '漢', width: 2, fg: 200, bg: 0x1010203, style: 4 },
      { text: '', width: 0, fg: 200, bg: 0x1010203, style: 4 },
      { text: '!', width: 1, fg: -1, bg: -1, style: 8 | 16 | 32 },
      { text: '', width: 1, fg: -1, bg: -1, style: 0 },
    ]);
  });

  test('any range of rows can be had by absolute number, and the cursor only where it is', () => {
    const { screen } = feed('1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7', { scrollback: 1 });
    expect([screen.baseRow, screen.viewportTop]).toEqual([1, 2]);
    const grid = screen.grid({ from: 0, rows: 3 });
    expect(grid.lines.map((line) => line.cells[0]?.text)).toEqual(['2', '3']);
    expect(grid.cursor.visible).toBe(false);
    expect(screen.grid({ from: 5 }).cursor).toMatchObject({ y: 1, visible: true });
  });

  test('a screen that was never fed is blank and has no emulator', () => {
    const { screen } = makeScreen();
    expect(screen.grid().lines).toHaveLength(5);
    expect(screen.text({ scope: 'all', wrap: 'join' })).toBe('');
    expect(screen.snapshot()).toBe('');
    screen.clear();
    screen.resize({ cols: 40, rows: 3 });
    expect(screen.grid()).toMatchObject({ cols: 40, rows: 3, cursor: { x: 0, y: 0 } });
    expect(screen.state).toBe('blank');
  });
});

describe('state', () => {
  test('R-TERM-043: modes a program sets can be seen', () => {
    const { screen } = feed('\x1b[?1h\x1b=\x1b[?2004h\x1b[?1004h\x1b[?1002h\x1b[?1006h\x1b[?2026h\x1b[?25l\x1b[6 q');
    expect(screen.modes).toMatchObject({
      applicationCursor: true,
      applicationKeypad: true,
      bracketedPaste: true,
      focusReports: true,
      mouse: 'drag',
      mouseEncoding: 'sgr',
      synchronized: true,
      cursorBlink: false,
    });
    expect(screen.cursor).toMatchObject({ visible: false, shape: 'bar' });
  });

  test('R-RPC-021: row numbers count from the start, trimmed rows included; a reflow bumps the epoch', () => {
    const { screen } = feed(`${'x\r\n'.repeat(100)}`, { scrollback: 10 });
    expect([screen.baseRow, screen.viewportTop, screen.epoch]).toEqual([86, 96, 0]);
    screen.resize({ cols: 20, rows: 3 });
    expect(screen.viewportTop + screen.cursor.y).toBe(100);
    expect(screen.epoch).toBe(0);
    screen.resize({ cols: 30, rows: 3 });
    expect(screen.epoch).toBe(1);
  });

  test('R-RPC-021: a full reset begins an epoch, and rows after it get new numbers', () => {
    const { screen } = feed(`${'x\r\n'.repeat(50)}\x1bc${'y\r\n'.repeat(40)}`, { scrollback: 10 });
    expect(screen.epoch).toBe(1);
    expect(screen.viewportTop + screen.cursor.y).toBe(51 + 40);
    expect(screen.scrollbackRows).toBe(10);
  });

  test('R-TERM-053: clear keeps the line of the cursor as the first row, and begins an epoch', () => {
    const { screen } = feed('1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n$ ls');
    screen.clear();
    expect(screen.text({ scope: 'all', wrap: 'keep' })).toBe('$ ls');
    expect(screen).toMatchObject({ scrollbackRows: 0, cursor: { x: 4, y: 0 }, epoch: 1 });
    expect(screen.baseRow).toBe(6);
    screen.feed(encode('\r\nout\r\n'.repeat(5)));
    expect(screen.rowTexts()[0]).toMatchObject({ row: 6, text: '$ ls' });
  });

  test('R-TERM-053: clear also removes what is below a cursor on the first row', () => {
    const { screen } = feed('a\r\nb\r\nc\x1b[H');
    screen.clear();
    expect(screen.text({ scope: 'all', wrap: 'keep' })).toBe('a');
  });

  test('a size no terminal can have is refused', () => {
    const { screen } = makeScreen();
    expect(() => screen.resize({ cols: 1, rows: 5 })).toThrow('cannot have');
    expect(() => screen.resize({ cols: 10, rows: 1.5 })).toThrow('cannot have');
  });
});

describe('answers', () => {
  const replyTo = (query: string): string => feed(query).replies.join('');

  test('to device, status and mode queries', () => {
    expect(replyTo('\x1b[c')).toMatch(/^\x1b\[\?1;2c$/);
    expect(replyTo('\x1b[>c')).toMatch(/^\x1b\[>0;\d+;0c$/);
    expect(replyTo('\x1b[=c')).toBe('\x1bP!|00000000\x1b\\');
    expect(replyTo('\x1b[>q')).toBe('\x1bP>|Fairlead\x1b\\');
    expect(replyTo('ab\x1b[6n')).toBe('\x1b[1;3R');
    expect(replyTo('\x1b[?2004$p')).toBe('\x1b[?2004;2$y');
  });

  test('to size queries', () => {
    expect(replyTo('\x1b[18t')).toBe('\x1b[8;5;20t');
    expect(replyTo('\x1b[14t')).toBe('\x1b[4;85;160t');
    expect(replyTo('\x1b[16t')).toBe('\x1b[6;17;8t');
  });

  test('to colour queries, from the theme', () => {
    expect(replyTo('\x1b]11;?\x07')).toBe('\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\');
    expect(replyTo('\x1b]10;?;?\x07')).toBe('\x1b]10;rgb:d4d4/d4d4/d4d4\x1b\\\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\');
    expect(replyTo('\x1b]4;1;?;196;?\x07')).toBe(
      '\x1b]4;1;rgb:cdcd/3131/3131\x1b\\\x1b]4;196;rgb:ffff/0000/0000\x1b\\',
    );
  });

  test('never with a title or the clipboard, which output could choose', () => {
    expect(replyTo('\x1b]2;rm -rf\x07\x1b[21t\x1b[20t\x1b]52;c;?\x07')).toBe('');
  });

  test('come after parsing, so that whoever hears them may feed the screen again', () => {
    const { screen } = makeScreen({ reply: () => screen.feed(encode('!')) });
    screen.feed(encode('a\x1b[6nb'));
    expect(screen.text({ scope: 'all', wrap: 'join' })).toBe('ab!');
  });

  test('are bounded: a file full of queries does not become megabytes of input', () => {
    expect(replyTo('\x1b[c'.repeat(100_000)).length).toBeLessThanOrEqual(64 << 10);
  });
});

test('links leave their text', () => {
  const { screen } = feed('\x1b]8;;http://x/\x1b\\here\x1b]8;;\x1b\\ we');
  expect(screen.text({ scope: 'all', wrap: 'join' })).toBe('here we');
  expect(screen.grid().lines[0]?.cells[0]?.style).toBe(0);
});

test('bell, title and clipboard writes are events', () => {
  const { events, screen } = feed(`\x07\x1b]0;hi\x07\x1b]52;c;${Buffer.from('clip é').toString('base64')}\x07`);
  expect(events).toEqual(['{"type":"bell"}', '{"type":"title","title":"hi"}', '{"type":"clipboard","text":"clip é"}']);
  expect(screen.title).toBe('hi');
});

test('however output is cut into chunks, the screen is the same', () => {
  fc.assert(
    fc.property(fc.array(anyPiece, { maxLength: 60 }), fc.array(fc.nat(40)), (pieces, cuts) => {
      const bytes = encode(pieces.join(''));
      const whole = makeScreen({ scrollback: 7 });
      whole.screen.feed(bytes);
      const cut = makeScreen({ scrollback: 7 });
      let at = 0;
      for (const length of cuts) {
        cut.screen.feed(bytes.subarray(at, at + length));
        at += length;
      }
      cut.screen.feed(bytes.subarray(at));
      expect(everything(cut.screen)).toEqual(everything(whole.screen));
      expect(cut.events).toEqual(whole.events);
    }),
    { numRuns: 150 },
  );
});

test('bytes that are no text do no harm', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 30 }), (chunks) => {
      const { screen } = makeScreen({ scrollback: 3 });
      for (const chunk of chunks) screen.feed(chunk);
      expect(screen.grid().lines).toHaveLength(5);
    }),
    { numRuns: 150 },
  );
});

test('characters cut between two chunks are not lost', () => {
  const { screen } = makeScreen({ cols: 40 });
  for (const byte of encode('… — 👩‍💻 漢')) screen.feed(Uint8Array.of(byte));
  expect(screen.text({ scope: 'all', wrap: 'join' })).toBe('… — 👩‍💻 漢');
});
