import { deferred } from '../../../lib/deferred.ts';
import { renderText } from '../../screen/render-text.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { endedWith, endedByExit, whenExited } from './exited.ts';
import { cursorLine, looksLikeContinuation, looksLikePrompt } from '../../shells/prompt-line.ts';
import { afterQuiet } from '../../waiting/quiet-watch.ts';
import type { Confidence, CommandOutcome, Outer, Watch } from '../result.ts';
import { timings } from '../../waiting/timings.ts';

const { quietMs, moreMs } = timings.program;

const interrupt = Uint8Array.of(3);
/** More output than this is not looked through for the line as typed. */
const longBytes = 256 << 10;

/** Follows a line given to a program that is no shell: back at its prompt, or quiet. There is no exit code to know. */
export class ProgramWatch implements Watch {
  readonly started = Promise.resolve();
  readonly #terminal: Terminal;
  readonly #line: string;
  readonly #prompt: string;
  readonly #by: string;
  readonly #sentAt: number;
  #echoTo: number | undefined;
  readonly #ended = deferred<CommandOutcome>();
  readonly #listening: Disposable[];

  constructor(terminal: Terminal, line: string, prompt: string, by: string) {
    this.#terminal = terminal;
    this.#line = line;
    this.#prompt = prompt;
    this.#by = by;
    this.#sentAt = terminal.log.end;
    const outer = terminal.blocks.current?.id;
    this.#listening = [
      whenExited(terminal, (ended) => this.#finish(endedByExit(ended, this.outputFrom, terminal.log.end))),
      terminal.blocks.events.on((event) => {
        if (event.type !== 'ended' || event.block.id !== outer) return;
        // Blocks are told before the output they lie in; that may hold the rest of ours.
        queueMicrotask(() => this.outerEnded(event.block));
      }),
      afterQuiet(terminal, quietMs, (signal) => this.#look(signal, false)),
      afterQuiet(terminal, moreMs, (signal) => this.#look(signal, true)),
    ];
  }

  get ended(): Promise<CommandOutcome> {
    return this.#ended.promise;
  }

  /** Of a long output, after the lines as typed. */
  get outputFrom(): number {
    if (!this.#isLong) return this.#sentAt;
    this.#echoTo ??= this.#afterLines(this.#line.split('\n').length);
    return this.#echoTo;
  }

  get #isLong(): boolean {
    return this.#terminal.log.end - this.#sentAt > longBytes;
  }

  outerEnded(outer: Outer): void {
    const outputTo = outer.outputTo ?? this.#terminal.log.end;
    this.#finish({
      ...endedWith(outer, this.outputFrom, outputTo),
      ...this.#short(outputTo, ''),
      note: 'The program ended with it; the exit code is that of the program.',
    });
  }

  [Symbol.dispose](): void {
    for (const listening of this.#listening) listening[Symbol.dispose]();
  }

  textSoFar(): string | undefined {
    return this.#short(this.#terminal.log.end, '').text;
  }

  async #look(signal: AbortSignal, long: boolean): Promise<void> {
    if (this.#terminal.log.end === this.#sentAt) return;
    await this.#terminal.sync(signal);
    const line = cursorLine(this.#terminal);
    if (uncounted(line) === uncounted(this.#prompt)) return this.#finish(this.#quiet(line, 'medium'));
    if (!long || !looksLikePrompt(line)) return;
    if (!looksLikeContinuation(line)) return this.#finish(this.#quiet(line, 'low'));
    const incomplete = this.#quiet(line, 'medium');
    await this.#terminal.input.send(interrupt, this.#by, signal);
    this.#finish({
      ...incomplete,
      state: 'incomplete',
      note: 'The program wanted more lines. What it had was dropped with Ctrl+C.',
    });
  }

  #quiet(line: string, confidence: Confidence): CommandOutcome {
    const { end } = this.#terminal.log;
    const outputTo = this.#isLong ? this.#beforeLastLine(end) : end;
    return {
      state: 'done',
      exitCode: null,
      evidence: 'quiet',
      confidence,
      outputFrom: this.outputFrom,
      outputTo,
      ...this.#short(outputTo, line),
      note: 'Not a shell: it shows its prompt and is quiet. It has no exit code.',
    };
  }

  /** The text of an output that is not long. */
  #short(to: number, promptAfter: string): { readonly text?: string } {
    return this.#isLong ? {} : { text: this.#text(to, promptAfter) };
  }

  #afterLines(count: number): number {
    const { bytes, from } = this.#terminal.log.read(this.#sentAt, undefined, longBytes);
    let at = 0;
    for (let line = 0; line < count; line++) at = bytes.indexOf(0x0a, at) + 1 || at;
    return from + at;
  }

  /** Where the prompt begins, which is the last line. */
  #beforeLastLine(to: number): number {
    const { bytes, from } = this.#terminal.log.read(to - longBytes, to);
    return from + (bytes.lastIndexOf(0x0a) + 1 || bytes.length);
  }

  /** The prompt is rendered with it, so that an echo that is redrawn stands where it stood. */
  #text(to: number, promptAfter: string): string {
    const { log, screen } = this.#terminal;
    const { bytes } = log.read(this.#sentAt, to);
    const lines = renderText(Buffer.concat([Buffer.from(this.#prompt), bytes]), screen.size).split('\n');
    for (const typed of this.#line.split('\n')) {
      if (lines[0]?.trimEnd().endsWith(typed.trimEnd()) === true) lines.shift();
    }
    if (promptAfter !== '' && lines.at(-1)?.trimEnd() === promptAfter.trimEnd()) lines.pop();
    return lines.join('\n');
  }

  #finish(ending: CommandOutcome): void {
    this[Symbol.dispose]();
    this.#ended.resolve(ending);
  }
}

/** `In [3]: ` and `In [4]: ` are the same prompt. */
const uncounted = (prompt: string): string => prompt.replace(/\d+/g, '#').trimEnd();
