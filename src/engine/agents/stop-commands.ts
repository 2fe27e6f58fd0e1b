import { deferred } from '../../lib/deferred.ts';
import type { Clock } from '../../lib/clock.ts';
import { onAbort } from '../../system/on-abort.ts';
import type { Signal } from '../terminal/channel.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { isBusy, type RunningAgentCommand } from './running-commands.ts';

export const stopOutcomes = ['ended', 'killed', 'interrupted', 'runs', 'was_over'] as const;
export type StopOutcome = (typeof stopOutcomes)[number];

/** From TERM to KILL, and from KILL to giving up. */
const termMs = 5000;
const killMs = 1000;

/**
 * Ends a command: TERM to the foreground program, KILL when that does not help. Where only keys reach the far side, Ctrl+C is all there
 * is.
 */
export async function stopCommand(
  { terminal }: RunningAgentCommand,
  by: string,
  clock: Clock,
  signal: AbortSignal,
): Promise<StopOutcome> {
  const isOver = overOf(terminal);
  if (isOver()) return 'was_over';
  if (!terminal.process?.signal) {
    await terminal.input.send(Uint8Array.of(0x03), by, signal, 'person');
    return (await within(termMs, terminal, isOver, clock, signal)) ? 'interrupted' : 'runs';
  }
  send(terminal, 'TERM');
  if (await within(termMs, terminal, isOver, clock, signal)) return 'ended';
  send(terminal, 'KILL');
  return (await within(killMs, terminal, isOver, clock, signal)) ? 'killed' : 'runs';
}

/** Whether what runs now has ended, though something else may run by then. */
function overOf(terminal: Terminal): () => boolean {
  const block = terminal.blocks.current?.id;
  const pid = terminal.process?.foreground()?.pid;
  return () => {
    if (!isBusy(terminal)) return true;
    if (block !== undefined) return terminal.blocks.current?.id !== block;
    return pid !== undefined && terminal.process?.foreground()?.pid !== pid;
  };
}

function send(terminal: Terminal, signal: Signal): void {
  try {
    terminal.process?.signal?.(signal);
  } catch {
    // It ended meanwhile; what is looked at next shows that.
  }
}

async function within(
  ms: number,
  terminal: Terminal,
  isOver: () => boolean,
  clock: Clock,
  signal: AbortSignal,
): Promise<boolean> {
  const over = deferred();
  const look = (): void => {
    if (isOver()) over.resolve();
  };
  using _state = terminal.state.changed.on(look);
  using _blocks = terminal.blocks.events.on(look);
  using _limit = clock.after(ms, () => over.resolve());
  using _abort = onAbort(signal, () => over.resolve());
  void terminal.whenEnded.then(() => over.resolve());
  look();
  await over.promise;
  return isOver();
}
