import { FairleadError } from '../../contract/errors.ts';
import type { Signal } from './channel.ts';
import { mustLive } from './ended.ts';
import type { Terminal } from './terminal.ts';

/** Signals the program in the foreground, and nothing else. */
export function signalForeground(terminal: Terminal, signal: Signal): void {
  mustLive(terminal);
  const { process } = terminal;
  if (!process?.signal) throw new FairleadError('unsupported', 'This terminal takes no signals, only keys.');
  process.signal(signal);
}

export async function clearTerminal(terminal: Terminal, signal: AbortSignal): Promise<void> {
  await terminal.sync(signal);
  // A prompt survives; half a line of a running program does not.
  terminal.screen.clear(terminal.blocks.state !== 'running');
}
