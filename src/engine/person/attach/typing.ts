import { deferred } from '../../../lib/deferred.ts';
import { person } from '../prompts/methods.ts';
import { accounted } from '../../call/call.ts';
import type { Engine } from '../../engine.ts';
import type { Terminal } from '../../terminal/terminal.ts';

/** Keys within this time of the first are one entry of the audit trail: one for each would drown everything else. */
const spanMs = 1000;

interface Span {
  characters: number;
  /** Settles when the gate has let the first key through, or not. */
  readonly admitted: Promise<void>;
}

/** What people type who sit in a session: written down by length only, since it may be a secret (R-RPC-035, 036). */
export class Typing {
  readonly #engine: Engine;
  /** By attachment, which is a connection, and by terminal. */
  readonly #spans = new WeakMap<AbortSignal, Map<string, Span>>();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  async add(
    attachment: AbortSignal,
    terminal: Terminal,
    characters: number,
    send: () => Promise<unknown>,
  ): Promise<void> {
    const spans = this.#spans.get(attachment) ?? new Map<string, Span>();
    this.#spans.set(attachment, spans);
    const open = spans.get(terminal.id);
    if (open) {
      open.characters += characters;
      await open.admitted;
      await send();
      return;
    }
    const admitted = deferred<void>();
    const span: Span = { characters, admitted: admitted.promise };
    spans.set(terminal.id, span);
    const sent = deferred<void>();
    const what = {
      operation: 'attach.write',
      access: 'control' as const,
      terminal: String(terminal.identity.number),
      // Read when the entry is written, at the end of the span.
      get characters() {
        return span.characters;
      },
    };
    const { closing } = this.#engine;
    const written = accounted(what, { engine: this.#engine, caller: person, signal: closing }, async (admit) => {
      try {
        await admit({ session: terminal.identity.number, characters });
        admitted.resolve();
        await send();
        sent.resolve();
        await this.#over(attachment);
      } finally {
        spans.delete(terminal.id);
      }
    });
    written.catch((error: unknown) => {
      admitted.reject(error);
      sent.reject(error);
    });
    admitted.promise.catch(() => {});
    this.#engine.background(written);
    await sent.promise;
  }

  /** The end of the span: its time, the attachment's end, or the engine's. */
  async #over(attachment: AbortSignal): Promise<void> {
    const { clock, closing } = this.#engine;
    const ends = [attachment, closing];
    const over = deferred<void>();
    const end = (): void => over.resolve();
    using _limit = clock.after(spanMs, end);
    for (const signal of ends) signal.addEventListener('abort', end, { once: true });
    if (ends.some(({ aborted }) => aborted)) end();
    try {
      await over.promise;
    } finally {
      for (const signal of ends) signal.removeEventListener('abort', end);
    }
  }
}
