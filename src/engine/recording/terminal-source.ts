import { echoedCommand } from '../reading/echoed-command.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { RecordingSource } from './source.ts';

/** The part of a terminal that recordings use. */
export type Recordable = Pick<
  Terminal,
  | 'id'
  | 'size'
  | 'program'
  | 'log'
  | 'output'
  | 'input'
  | 'resized'
  | 'block'
  | 'ended'
  | 'whenEnded'
  | 'disposed'
  | 'sync'
> & { readonly screen: Pick<Terminal['screen'], 'snapshot' | 'pending'> };

export function terminalSource(terminal: Recordable): RecordingSource {
  /** Without a reported command line, the text may have scrolled away by the end of the command. */
  let echoed: { readonly block: number; readonly command: string | undefined } | undefined;
  return {
    id: terminal.id,
    get size() {
      return terminal.size;
    },
    program: terminal.program,
    ended: terminal.whenEnded,
    get isClosed() {
      return terminal.disposed;
    },
    onOutput: (listener) => terminal.output.on(({ bytes, atMs }) => listener(bytes, atMs)),
    onInput: (listener) => terminal.input.on(({ bytes, echo, atMs }) => listener(bytes, echo, atMs)),
    onResize: (listener) => terminal.resized.on(listener),
    onCommand: (listener) =>
      terminal.block.on((event) => {
        if (event.type === 'started') {
          const command = event.block.command ?? echoedCommand(event.block, terminal.log, terminal.size);
          echoed = { block: event.block.id, command };
          listener({ phase: 'start', command });
        }
        if (event.type !== 'ended') return;
        // A command without a seen beginning began before the recording.
        const { id, exitCode, startedAt = 0, endedAt = startedAt } = event.block;
        const command = event.block.command ?? (echoed?.block === id ? echoed.command : undefined);
        listener({ phase: 'end', command, exitCode, startedAt, endedAt });
      }),
    async snapshot(signal) {
      await terminal.sync(signal);
      return { screen: terminal.screen.snapshot(), pending: terminal.screen.pending };
    },
  };
}
