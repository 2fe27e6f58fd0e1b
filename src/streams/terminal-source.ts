import type { Engine } from '../engine/engine.ts';
import { maySee } from '../engine/call/principal.ts';
import { describeEnd } from '../engine/terminal/ended.ts';
import type { OutputLog } from '../engine/terminal/output-log.ts';
import type { Terminal } from '../engine/terminal/terminal.ts';
import type { AutoRelease, ResourceSource, StreamResource, TextContent } from './resource.ts';
import type { Scheme } from './uri.ts';

interface TerminalFacts {
  readonly scheme: Scheme;
  readonly id: string;
  readonly description: string;
  readonly status: () => string;
  readonly release?: AutoRelease | undefined;
  readonly leak?: StreamResource['leak'];
  /** Whether it is being recorded, and when that changes. */
  readonly recording?: { isOn(): boolean; onChange(listener: () => void): Disposable };
}

/** What a log keeps, as the content of a resource. */
export const logContent = (log: OutputLog): TextContent => ({
  type: 'text',
  get start() {
    return log.start;
  },
  get end() {
    return log.end;
  },
  read({ from, to }, max) {
    const { bytes, from: first, missed } = log.read(from, to, max);
    return { from: first, to: first + bytes.length, missed, parts: bytes.length === 0 ? [] : [{ bytes }] };
  },
});

/** A terminal as something to follow, under any of its names. */
export function terminalResource(terminal: Terminal, facts: TerminalFacts): StreamResource {
  const { log, usage, identity, feed } = terminal;
  return {
    key: terminal.id,
    scheme: facts.scheme,
    id: facts.id,
    owner: identity.owner,
    description: facts.description,
    createdAt: identity.createdAt,
    get status() {
      return facts.status();
    },
    get end() {
      const { ended } = terminal;
      if (!ended) return undefined;
      return { reason: describeEnd(ended), ...(ended.by === 'exit' && { exitCode: ended.code }) };
    },
    get lastSeq() {
      return log.appends;
    },
    content: logContent(log),
    onChange(listener) {
      let at = log.end;
      const appended = log.onAppend.on((end) => {
        const bytes = end - at;
        at = end;
        listener({ bytes, isFinal: false });
      });
      const ended = terminal.state.changed.on(() => terminal.ended && listener({ bytes: 0, isFinal: true }));
      return {
        [Symbol.dispose]() {
          appended[Symbol.dispose]();
          ended[Symbol.dispose]();
        },
      };
    },
    release: facts.release,
    isHeld: () => usage.isHeld || facts.recording?.isOn() === true,
    onHeld(listener) {
      const listening = [usage.onHeld.on(listener), facts.recording?.onChange(listener)];
      return {
        [Symbol.dispose]() {
          for (const one of listening) one?.[Symbol.dispose]();
        },
      };
    },
    block: () => feed.hold(),
    leak: facts.leak,
  };
}

/** Every terminal of the engine, of any kind. */
export function anyTerminalSource(engine: Engine): ResourceSource {
  const seen = (principal: string | undefined): readonly Terminal[] =>
    engine.terminals.filter(({ identity }) => principal === undefined || maySee(identity, { principal }));
  const resourceOf = (terminal: Terminal, id = terminal.id): StreamResource => {
    const { cols, rows } = terminal.screen.size;
    const { target, name, program } = terminal.identity;
    return terminalResource(terminal, {
      scheme: 'terminal',
      id,
      description: `${name === undefined ? '' : `${name}: `}${program} on ${target}, ${cols}x${rows}`,
      status: () => terminal.state.current,
    });
  };
  return {
    scheme: 'terminal',
    missing: 'RESOURCE_GONE',
    list: (principal) => seen(principal).map((terminal) => resourceOf(terminal)),
    find(id, principal) {
      const alias = engine.sessions.aliasOf(id);
      const terminal = seen(principal).find((one) => one.id === id || one === alias);
      return terminal && resourceOf(terminal, id);
    },
    onListChange: (listener) =>
      engine.events.on(({ kind }) => {
        if (kind === 'opened' || kind === 'closed') listener();
      }),
  };
}
