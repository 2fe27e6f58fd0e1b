import { Emitter } from '../../../lib/emitter.ts';
import { chores } from '../../../system/chores.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import type { ProgramPrompt } from './prompt.ts';
import { mayBecomeQuestion, recognise } from './recognise.ts';
import { drawsKeys, driverEchoes } from '../../shells/input-mode.ts';
import { timings } from '../../waiting/timings.ts';

const { looksMs, textMs, laterMs } = timings.prompts;

/** The part of a terminal that is looked at. */
export type Watched = Pick<
  Terminal,
  'clock' | 'screen' | 'process' | 'ended' | 'usage' | 'log' | 'blocks' | 'output' | 'input' | 'state' | 'feed'
>;

/** Knows whether a program in a terminal waits for an answer. Looks when output has gone quiet. */
export class PromptDetector implements Disposable {
  /** After each change; undefined when the wait is over. */
  readonly changed = new Emitter<ProgramPrompt | undefined>();
  readonly #terminal: Watched;
  readonly #listening: Disposable[];
  readonly #ending = new AbortController();
  #current: ProgramPrompt | undefined;
  #timer: Disposable | undefined;
  #nextLook = 0;
  /** What it shows may become a question. */
  #undecided = false;
  /** End of the log when an answer was entered: until more is printed, what it shows has been answered. */
  #answeredAt = -1;

  constructor(terminal: Watched) {
    this.#terminal = terminal;
    this.#listening = [
      terminal.output.on(() => this.#restart()),
      terminal.input.events.on(({ bytes }) => this.#entered(bytes)),
      terminal.state.changed.on(() => {
        if (terminal.ended) this.#set(undefined);
      }),
    ];
  }

  get current(): ProgramPrompt | undefined {
    return this.#current;
  }

  /** For a terminal in which a program may have been waiting before this process watched it. */
  begin(): void {
    this.#restart();
  }

  /** Looks at the screen as it was last parsed. Undefined while output flows. */
  look(): ProgramPrompt | undefined {
    const { ended, blocks, log, clock, process, usage } = this.#terminal;
    if (ended || blocks.state === 'prompt' || usage.lastOutputMs === undefined) return undefined;
    if (log.end === this.#answeredAt) return undefined;
    const quietMs = clock.monotonic() - usage.lastOutputMs;
    const mode = process?.inputMode();
    if (quietMs < (mode === 'hidden' ? looksMs[0] : textMs)) return undefined;
    return recognise(this.#terminal.screen, {
      echo: driverEchoes(mode),
      quietMs,
      program: () => process?.foreground()?.name,
      reads: () => process?.reads?.(),
    });
  }

  [Symbol.dispose](): void {
    this.#ending.abort();
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    for (const listening of this.#listening) listening[Symbol.dispose]();
  }

  #restart(): void {
    this.#set(undefined);
    // A flood restarts nothing: the timer of the first look finds out itself that it was too early.
    if (this.#timer && this.#nextLook === 0) return;
    this.#nextLook = 0;
    this.#timer?.[Symbol.dispose]();
    this.#arm();
  }

  #entered(bytes: Uint8Array): void {
    const { blocks, process, log } = this.#terminal;
    // A shell at its prompt asks nothing, and what is answered stays answered: most keys need no look at the terminal's mode.
    if (blocks.state === 'prompt' || (log.end === this.#answeredAt && !this.#current)) return;
    // A line is answered by its end, a raw program by any key.
    if (!bytes.includes(13) && !bytes.includes(10) && !this.#takesKeys(process)) return;
    this.#answeredAt = log.end;
    this.#set(undefined);
  }

  #takesKeys(process: Watched['process']): boolean {
    const kind = this.#current?.kind;
    return drawsKeys(process?.inputMode()) ?? (kind === 'pager' || kind === 'any_key');
  }

  #arm(): void {
    const due = looksMs[this.#nextLook] ?? this.#later();
    if (due === undefined) return;
    const { clock, usage } = this.#terminal;
    const wait = (usage.lastOutputMs ?? clock.monotonic()) + due - clock.monotonic();
    this.#timer = clock.after(Math.max(wait, 1), () => {
      // What lies unread is read first: a flood that is only late is not quiet, and fetching its output costs time.
      this.#timer = chores.add(() => this.#due(due));
    });
  }

  #later(): number | undefined {
    if (!this.#undecided) return undefined;
    const { clock } = this.#terminal;
    const { lastOutputMs = 0 } = this.#terminal.usage;
    const quietMs = clock.monotonic() - lastOutputMs;
    return quietMs + Math.min(Math.max(quietMs * laterMs.share, laterMs.least), laterMs.most);
  }

  #due(dueMs: number): void {
    this.#timer = undefined;
    if (this.#ending.signal.aborted) return;
    const { clock, blocks, ended } = this.#terminal;
    const { lastOutputMs = 0 } = this.#terminal.usage;
    if (ended || blocks.state === 'prompt') return;
    if (clock.monotonic() - lastOutputMs < dueMs) return this.#arm();
    this.#nextLook++;
    // On a busy machine output may lie unread while the timer runs out; the barrier fetches it, and it restarts this.
    this.#terminal.feed
      .sync(this.#ending.signal)
      .then(
        () => {
          if (this.#ending.signal.aborted) return;
          const seen = this.look();
          this.#undecided = !seen && this.#nextLook >= looksMs.length && this.#mayAskLater();
          if (seen) this.#set(seen);
          else if (!this.#timer) this.#arm();
        },
        () => {},
      )
      .catch((thrown: unknown) => this.#terminal.screen.fault(thrown));
  }

  /** A program works, and could ask with what it has printed last. */
  #mayAskLater(): boolean {
    const { process, screen, log } = this.#terminal;
    return log.end !== this.#answeredAt && mayBecomeQuestion(screen) && process?.reads?.() === false;
  }

  #set(attention: ProgramPrompt | undefined): void {
    if (this.#current === attention) return;
    this.#current = attention;
    this.changed.emit(attention);
  }
}
