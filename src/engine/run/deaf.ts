import { FairleadError } from '../../contract/errors.ts';
import { isShell } from '../shells/traits.ts';
import { unwanted } from '../../system/abortable.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { drawsKeys } from '../shells/input-mode.ts';
import { timings } from '../waiting/timings.ts';

const { deafMs } = timings.run;

/** A line that was typed at a shell's prompt. */
export interface LineAtPrompt {
  readonly atMs: number;
  /** Where the output ended before it. */
  readonly offset: number;
}

/** Calls back when a shell has shown nothing of a line for too long, at once when it has not by now. */
export function whenDeaf(terminal: Terminal, line: LineAtPrompt, found: () => void): Disposable {
  /** Made when it is needed: most commands are over before. */
  let looking: AbortController | undefined;
  const look = async (signal: AbortSignal): Promise<void> => {
    if (await showsNothing(terminal, line, signal)) found();
  };
  const timer = terminal.clock.after(Math.max(0, leftMs(terminal, line)), () => {
    looking = new AbortController();
    look(looking.signal).catch(() => {});
  });
  return {
    [Symbol.dispose]: () => {
      timer[Symbol.dispose]();
      looking?.abort(unwanted);
    },
  };
}

export async function isDeaf(terminal: Terminal, line: LineAtPrompt, signal: AbortSignal): Promise<boolean> {
  return leftMs(terminal, line) <= 0 && (await showsNothing(terminal, line, signal));
}

/** Without a look at the clock: a timer may fire a fraction of a millisecond before its time. */
async function showsNothing(terminal: Terminal, line: LineAtPrompt, signal: AbortSignal): Promise<boolean> {
  if (terminal.log.end !== line.offset) return false;
  await terminal.sync(signal);
  return terminal.log.end === line.offset && readsKeys(terminal);
}

const leftMs = ({ clock }: Terminal, { atMs }: LineAtPrompt): number => atMs + deafMs - clock.monotonic();

/** A shell is in the foreground and has the terminal in raw mode: it should echo what is typed itself. */
export const readsKeys = ({ process }: Terminal): boolean =>
  drawsKeys(process?.inputMode()) === true && isShell(process?.foreground()?.name);

const whatNow = 'close this terminal and open another';

export const deafNote =
  `The shell has the terminal and shows nothing of the line that was typed ${deafMs / 1000} s ago: it does not react to keys, as bash may ` +
  `after Ctrl+C during a completion. Do not wait for it: ${whatNow}. If it recovers, it will still run the line.`;

export const deaf = (what: string): FairleadError =>
  new FairleadError('conflict', `The shell does not react to keys: ${what}.`, {
    hint: `Keys will not help: ${whatNow}.`,
  });
