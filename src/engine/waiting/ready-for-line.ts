import { deferred } from '../../lib/deferred.ts';
import { afterQuiet } from './quiet-watch.ts';
import { abortable } from '../../system/abortable.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** A program without marks that is quiet for so long is taken to wait for input (R-RPC-054). */
const quietMs = 250;
/** Four times the documented delay: a program that never stops printing gets its line all the same. */
const capMs = 2000;

/** Waits until a line can be typed into a new terminal: its prompt, or quiet, or the limit. */
export async function readyForLine(terminal: Terminal, signal: AbortSignal): Promise<void> {
  const done = deferred();
  const check = (): void => {
    if (terminal.ended || terminal.blocks.promptAt !== undefined) done.resolve();
  };
  using _block = terminal.block.on(check);
  using _state = terminal.state.changed.on(check);
  using _quiet = afterQuiet(terminal, quietMs, () => done.resolve(), terminal.lastOutputMs);
  using _cap = terminal.clock.after(capMs, () => done.resolve());
  check();
  await abortable(done.promise, signal);
}
