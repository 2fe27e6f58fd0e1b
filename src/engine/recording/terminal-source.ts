import { echoedCommand } from '../echoed-command.ts';
import type { Terminal } from '../terminal.ts';
import type { RecordingSource } from './source.ts';

/** The part of a terminal that recordings use. */
export type Recordable = Pick<
  Terminal,
  'id' | 'size' | 'program' | 'log' | 'output' | 'input' | 'resized' | 'block' | 'ended' | 'whenEnded' | 'sync'
> & { readonly screen: Pick<Terminal['screen'], 'snapshot' | 'pending'> };

export function terminalSource(terminal: Recordable): RecordingSource {
  return {
    id: terminal.id,
    get size() {
      return terminal.size;
    },
    program: terminal.program,
    ended: terminal.whenEnded,
    onOutput: (listener) => terminal.output.on(({ bytes, atMs }) => listener(bytes, atMs)),
    onInput: (listener) => terminal.input.on(({ bytes, echo, atMs }) => listener(bytes, echo, atMs)),
    onResize: (listener) => terminal.resized.on(listener),
    onCommand: (listener) =>
      terminal.block.on((event) => {
        if (event.type === 'started') {
          const command = event.block.command ?? echoedCommand(event.block, terminal.log, terminal.size);
          listener({ phase: 'start', command });
        }
        if (event.type !== 'ended') return;
        // One that nobody saw begin did so before the recording.
        const { command, exitCode, startedAt = 0, endedAt = startedAt } = event.block;
        listener({ phase: 'end', command, exitCode, startedAt, endedAt });
      }),
    async snapshot(signal) {
      await terminal.sync(signal);
      return { screen: terminal.screen.snapshot(), pending: terminal.screen.pending };
    },
  };
}
