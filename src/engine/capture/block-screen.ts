import { FairleadError } from '../../contract/errors.ts';
import { pauses } from '../../system/turns.ts';
import type { Block } from '../terminal/blocks.ts';
import { Screen } from '../screen/screen.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** Fed in one go. */
const sliceBytes = 16 << 10;

export interface BlockScreen extends Disposable {
  readonly screen: Screen;
  /** Rows that the block takes, from the first one kept. */
  readonly rows: number;
  /** Bytes of it that are no longer in the output log, or rows that are more than may be shown. */
  readonly isCut: boolean;
}

/**
 * One block on a screen of its own, from its prompt to the end of its output: rows of it that scrolled away are there, and what else
 * the terminal shows is not. It has the terminal's size of now.
 */
export async function replayBlock(
  terminal: Terminal,
  block: Block,
  mostRows: number,
  signal: AbortSignal,
): Promise<BlockScreen> {
  const { log, clock } = terminal;
  const begin = block.promptFrom ?? block.commandFrom ?? block.outputFrom;
  const end = block.outputTo ?? log.end;
  if (end <= log.start) {
    throw new FairleadError('not_found', `The output of block ${block.id} is no longer kept.`, {
      hint: 'Take a newer block, or rows of the scrollback with row and rows.',
    });
  }
  const from = Math.max(begin, log.start);
  const screen = new Screen({ size: terminal.screen.size, scrollback: mostRows, clock });
  const pause = pauses(signal);
  try {
    for (let at = from; at < end; at += sliceBytes) {
      screen.feed(log.read(at, Math.min(end, at + sliceBytes)).bytes);
      await pause();
    }
  } catch (thrown) {
    screen[Symbol.dispose]();
    throw thrown;
  }
  const { baseRow } = screen.facts;
  const rows = Math.max(1, usedRows(screen) - baseRow);
  return { screen, rows, isCut: from > begin || baseRow > 0, [Symbol.dispose]: () => screen[Symbol.dispose]() };
}

/** Behind the last row with text. */
function usedRows(screen: Screen): number {
  const used = screen.rowTexts().findLast(({ text }) => text.trim() !== '');
  return used === undefined ? 0 : used.row + 1;
}
