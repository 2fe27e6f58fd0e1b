import { randomBytes } from 'node:crypto';
import type { TerminalIdentity } from '../terminal/terminal-init.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { EngineEvent } from './engine-events.ts';
import type { TerminalStatus } from './status.ts';

/** The last that is known of a terminal that is gone. */
export interface ClosedTerminal {
  readonly kind: 'gone';
  readonly identity: TerminalIdentity;
  readonly status: TerminalStatus;
}

/** What a reader that returns has to hear. Of a terminal that lives, its state is looked up when it is told. */
export type Change = EngineEvent | ClosedTerminal;

/** More objects than this are not remembered as changed: a reader that was away for so long gets the whole state. */
const mostKept = 1024;

/**
 * Which objects have changed, each once and in the order of its last change. A reader that returns with a cursor hears of those behind
 * it; nothing is lost, because an event carries the new state of its object and not a difference.
 */
export class Changes {
  /** Cursors of another process mean nothing here. */
  readonly #origin = randomBytes(6).toString('base64url');
  readonly #statusOf: (terminal: Terminal) => TerminalStatus;
  readonly #kept = new Map<string, { readonly at: number; readonly change: Change }>();
  #at = 0;
  /** The newest that was forgotten. */
  #forgotten = 0;

  constructor(statusOf: (terminal: Terminal) => TerminalStatus) {
    this.#statusOf = statusOf;
  }

  /** Behind everything so far. */
  get cursor(): string {
    return `${this.#origin}.${this.#at}`;
  }

  add(event: EngineEvent): void {
    // A bell and a wish to be looked at are of the moment: they change nothing.
    if (event.kind === 'bell' || event.kind === 'focus') return;
    this.#at += 1;
    const key = keyOf(event);
    this.#kept.delete(key);
    this.#kept.set(key, { at: this.#at, change: event.kind === 'closed' ? this.#gone(event.terminal) : event });
    const [oldest] = this.#kept;
    if (this.#kept.size <= mostKept || !oldest) return;
    this.#kept.delete(oldest[0]);
    this.#forgotten = oldest[1].at;
  }

  /** Undefined when the cursor is too old, or of another process: then only the whole state will do. */
  since(cursor: string): readonly Change[] | undefined {
    const [origin, number] = cursor.split('.', 2);
    const at = Number(number ?? Number.NaN);
    if (origin !== this.#origin || !(at >= this.#forgotten && at <= this.#at)) return undefined;
    return [...this.#kept.values()].filter((one) => one.at > at).map(({ change }) => change);
  }

  /** Without the terminal itself, whose log and screen are large. */
  #gone(terminal: Terminal): ClosedTerminal {
    return { kind: 'gone', identity: terminal.identity, status: this.#statusOf(terminal) };
  }
}

/** What the event is the new state of. */
function keyOf(event: EngineEvent): string {
  if ('terminal' in event) return `terminal ${event.terminal.id}`;
  if (event.kind === 'conversation') return `conversation ${event.conversation.id}`;
  return event.kind === 'question' ? `question ${event.question.id}` : event.kind;
}
