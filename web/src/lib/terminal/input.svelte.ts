import { faultWords } from '../fault.ts';
import { feed } from '../feed.svelte.ts';
import { CallFailed } from '../live.ts';

/** Typed and not accepted: more is refused. A paste has a limit of its own. */
const mostWaiting = 4096;
const slowMs = 1000;
const lookMs = 200;
const shakeMs = 300;
const ctrlC = '\x03';

interface Body {
  text: string;
  keys: number;
  readonly isPaste: boolean;
}

interface InputEvents {
  /** What goes with keys when this page has taken the keyboard over. */
  readonly epoch: () => number | undefined;
  readonly sent: () => void;
  /** The server did not take it: why, and what was lost. */
  readonly failed: (why: string, text: string, code: string) => void;
}

/** What goes into a terminal: in order, one call at a time, never twice. */
export class TerminalInput {
  readonly #id: string;
  readonly #on: InputEvents;
  readonly #queue: Body[] = [];
  #sending: Body | undefined;
  #since = 0;
  #timer: ReturnType<typeof setInterval> | undefined;
  /** Keys that have waited for a second or longer. */
  onTheWay = $state(0);
  /** How long the oldest of them waits. */
  lagMs = $state(0);
  /** A key was refused a moment ago. */
  isShaking = $state(false);

  constructor(id: string, on: InputEvents) {
    this.#id = id;
    this.#on = on;
  }

  type(keys: string): void {
    if (keys === ctrlC) return this.interrupt();
    const waiting = [this.#sending, ...this.#queue].reduce(
      (sum, body) => sum + (body?.isPaste ? 0 : (body?.text.length ?? 0)),
      0,
    );
    if (waiting + keys.length > mostWaiting) return this.#shake();
    const last = this.#queue.at(-1);
    if (last && !last.isPaste) {
      last.text += keys;
      last.keys += 1;
    } else this.#queue.push({ text: keys, keys: 1, isPaste: false });
    this.#go();
  }

  paste(keys: string): void {
    this.#queue.push({ text: keys, keys: 1, isPaste: true });
    this.#go();
  }

  /** Ctrl+C overtakes everything, and takes nothing over. */
  interrupt(): void {
    feed.live
      ?.call('person.type', { session: this.#id, text: ctrlC })
      .catch((error) => this.#on.failed(faultWords(error), '', codeOf(error)));
  }

  dispose(): void {
    clearInterval(this.#timer);
    this.#queue.length = 0;
  }

  #go(): void {
    if (this.#sending) return;
    this.#since = performance.now();
    this.#timer = setInterval(() => this.#look(), lookMs);
    void this.#send();
  }

  async #send(): Promise<void> {
    try {
      while (true) {
        this.#sending = this.#queue.shift();
        if (!this.#sending) return;
        const { text } = this.#sending;
        const epoch = this.#on.epoch();
        await feed.live?.call('person.type', { session: this.#id, text, ...(epoch !== undefined && { epoch }) });
        this.#since = performance.now();
        this.#on.sent();
      }
    } catch (error) {
      const lost = [this.#sending, ...this.#queue].map((body) => body?.text ?? '').join('');
      this.#queue.length = 0;
      this.#on.failed(faultWords(error), lost, codeOf(error));
    } finally {
      this.#sending = undefined;
      clearInterval(this.#timer);
      this.onTheWay = 0;
      this.lagMs = 0;
    }
  }

  #look(): void {
    const waited = performance.now() - this.#since;
    const all = [this.#sending, ...this.#queue];
    this.lagMs = waited;
    this.onTheWay = waited < slowMs ? 0 : all.reduce((sum, body) => sum + (body?.keys ?? 0), 0);
  }

  #shake(): void {
    this.isShaking = true;
    setTimeout(() => (this.isShaking = false), shakeMs);
  }
}

const codeOf = (error: unknown): string => (error instanceof CallFailed ? error.failure.code : '');
