import type { Size } from '../terminal/channel.ts';
import { Emulator } from './xterm/emulator.ts';
import { feedForward } from './feed/fast-forward.ts';
import { joinRows, rowTexts } from './rows.ts';
import { darkTheme } from './theme.ts';

/** Rows of output kept: more is cut at its beginning. */
const mostRows = 10_000;

/** The text a program's output leaves on a terminal of this size, long lines in one piece. */
export function renderText(bytes: Uint8Array, size: Size): string {
  if (bytes.length === 0) return '';
  const scratch = new Emulator(size, mostRows, darkTheme);
  try {
    feedForward(scratch, bytes);
    return joinRows(rowTexts(scratch, 0, Number.MAX_SAFE_INTEGER), 'join');
  } finally {
    scratch.dispose();
  }
}
