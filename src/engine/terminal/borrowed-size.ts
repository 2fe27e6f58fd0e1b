import { FairleadError } from '../../contract/errors.ts';
import { timings } from '../waiting/timings.ts';
import type { Size } from './channel.ts';
import type { Terminal } from './terminal.ts';

const { restoreMs } = timings.keyboardLease;

/** Resizes a terminal and remembers who wanted that. */
export async function resizeAs(
  terminal: Terminal,
  size: Size,
  by: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { usage } = terminal;
  const { sizedBy } = usage;
  usage.sizedBy = by;
  try {
    await terminal.resize(size, signal);
  } catch (error) {
    usage.sizedBy = sizedBy;
    throw error;
  }
}

/** Resizes a terminal for the person who has taken its keyboard over. The size of before returns with the keyboard. */
export async function borrowSize(
  terminal: Terminal,
  size: Size,
  { by, epoch }: { readonly by: string; readonly epoch: number },
  signal: AbortSignal,
): Promise<void> {
  const { input, screen, usage } = terminal;
  if (!input.lease.holds(epoch)) {
    throw new FairleadError('conflict', 'You do not have this keyboard any more.', {
      hint: 'Take it over again, or leave the epoch out to resize the terminal for good.',
    });
  }
  const before = { size: screen.size, by: usage.sizedBy };
  input.lease.whenOver(() => void giveBack(terminal, before));
  await resizeAs(terminal, size, by, signal);
}

async function giveBack(
  terminal: Terminal,
  { size, by }: { readonly size: Size; readonly by: string | undefined },
): Promise<void> {
  try {
    await resizeAs(terminal, size, by, AbortSignal.timeout(restoreMs));
  } catch {
    // It has ended meanwhile, or its far side does not answer: its size matters to no program then.
  }
}
