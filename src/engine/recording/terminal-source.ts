import { echoedCommand } from '../reading/echoed-command.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { markNow, onMark, pastOutput } from './block-marks.ts';
import { watchPeople } from './people.ts';
import type { RecordingSource } from './source.ts';

/** The part of a terminal that recordings use. */
export interface Recordable extends Pick<Terminal, 'id' | 'log' | 'output' | 'ended' | 'whenEnded' | 'sync'> {
  readonly identity: Pick<Terminal['identity'], 'program'> &
    Partial<Pick<Terminal['identity'], 'owner' | 'target' | 'name'>>;
  readonly durable?: Pick<Terminal['durable'], 'farSide'>;
  readonly input: Pick<Terminal['input'], 'events'> & Partial<Pick<Terminal['input'], 'lease'>>;
  readonly blocks: Pick<Terminal['blocks'], 'events' | 'promptBegan' | 'list' | 'current' | 'promptFrom' | 'promptAt'>;
  readonly place: Pick<Terminal['place'], 'cwd' | 'isHere'>;
  readonly state: Pick<Terminal['state'], 'isClosing'> & Partial<Pick<Terminal['state'], 'changed' | 'current'>>;
  readonly screen: Pick<
    Terminal['screen'],
    'snapshot' | 'pending' | 'size' | 'resized' | 'title' | 'events' | 'alternate'
  >;
}

export function terminalSource(terminal: Recordable): RecordingSource {
  /** Without a reported command line, the text may have scrolled away by the end of the command. */
  let echoed: { readonly block: number; readonly command: string | undefined } | undefined;
  return {
    id: terminal.id,
    get size() {
      return terminal.screen.size;
    },
    program: terminal.identity.program,
    ended: terminal.whenEnded,
    get isClosed() {
      return terminal.state.isClosing;
    },
    get place() {
      return terminal.place;
    },
    get title() {
      return terminal.screen.title;
    },
    get isAlternate() {
      return terminal.screen.alternate;
    },
    get end() {
      return terminal.log.end;
    },
    onOutput: (listener) => terminal.output.on(({ bytes, atMs, from }) => listener(bytes, atMs, from)),
    read: (from, to) => terminal.log.read(from, to),
    onInput: (listener) => terminal.input.events.on(({ bytes, echo, atMs }) => listener(bytes, echo, atMs)),
    onPeople: (listener) => watchPeople(terminal, listener),
    onResize: (listener) => terminal.screen.resized.on(listener),
    onTitle: (listener) =>
      terminal.screen.events.on((event) => {
        if (event.type === 'title') listener(event.title);
      }),
    onMark: (listener) => onMark(terminal, listener),
    markNow: () => markNow(terminal),
    past: (from) => pastOutput(terminal, from),
    onCommand: (listener) =>
      terminal.blocks.events.on((event) => {
        if (event.type === 'started') {
          const command = event.block.command ?? echoedCommand(event.block, terminal.log, terminal.screen.size);
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
