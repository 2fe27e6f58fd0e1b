import type { Core } from './core.ts';
import { paletteColor, type ScreenColors } from '../theme.ts';

interface Outlets {
  /** Text the program is to receive as input. */
  readonly reply: (text: string) => void;
  /** The program put text on the clipboard (OSC 52). */
  readonly clipboard: (text: string) => void;
}

/** Pixels of one character, for programs that ask; screenshots are drawn with about this cell. */
const cell = { width: 8, height: 17 };
const largestClipboard = 1 << 20;

/**
 * What the emulator leaves to its host: colours, identity, sizes, the clipboard. Reports of the title (CSI 21 t) and reads
 * of the clipboard stay unanswered: their text would arrive as input a program's output could choose.
 */
export function answerQueries(core: Core, theme: ScreenColors, { reply, clipboard }: Outlets): void {
  core.registerCsiHandler({ prefix: '>', final: 'q' }, () => {
    reply('\x1bP>|Fairlead\x1b\\');
    return true;
  });
  core.registerCsiHandler({ prefix: '=', final: 'c' }, () => {
    reply('\x1bP!|00000000\x1b\\');
    return true;
  });
  core.registerCsiHandler({ final: 't' }, ({ params }) => {
    if (params[0] === 14) reply(`\x1b[4;${core.rows * cell.height};${core.cols * cell.width}t`);
    else if (params[0] === 16) reply(`\x1b[6;${cell.height};${cell.width}t`);
    else return false;
    return true;
  });
  const named = [theme.foreground, theme.background, theme.cursor];
  for (const first of [10, 11, 12]) {
    core.registerOscHandler(first, (data) => {
      // `10;?;?` asks for 10 and 11: each further part belongs to the next number.
      for (const [i, part] of data.split(';', named.length).entries()) {
        const color = named[first - 10 + i];
        if (part === '?' && color !== undefined) reply(`\x1b]${first + i};${colorSpec(color)}\x1b\\`);
      }
      return true;
    });
  }
  core.registerOscHandler(4, (data) => {
    const parts = data.split(';', 512);
    for (let i = 0; i + 1 < parts.length; i += 2) {
      const index = Number(parts[i]);
      if (parts[i + 1] !== '?' || !Number.isInteger(index) || index < 0 || index > 255) continue;
      reply(`\x1b]4;${index};${colorSpec(paletteColor(theme, index))}\x1b\\`);
    }
    return true;
  });
  core.registerOscHandler(52, (data) => {
    const body = data.slice(data.indexOf(';') + 1);
    if (body === '?' || body.length > largestClipboard) return true;
    clipboard(Buffer.from(body, 'base64').toString('utf8'));
    return true;
  });
}

/** `rgb:1e1e/1e1e/1e1e`, as xterm answers. */
function colorSpec(color: number): string {
  const part = (value: number): string => (value & 0xff).toString(16).padStart(2, '0').repeat(2);
  return `rgb:${part(color >> 16)}/${part(color >> 8)}/${part(color)}`;
}
