import { deferred } from '../../lib/deferred.ts';
import { renderText } from '../screen/render-text.ts';
import type { Terminal } from '../terminal.ts';
import { endedWith, exited, whenExited } from './exited.ts';
import { cursorLine, looksLikeContinuation, looksLikePrompt } from './prompt-line.ts';
import { afterQuiet } from './quiet-watch.ts';
import type { Confidence, Ending, Outer, Watch } from './result.ts';

const interrupt = Uint8Array.of(3);
/** A program that shows its prompt and prints nothing for so long is done with the line. */
const quietMs = 100;
/** One that asks for more is not only slow to take what it was sent by then. */
const moreMs = 500;

/** Follows a line given to a program that is no shell: back at its prompt, or quiet. There is no exit code to know. */
export class ProgramWatch implements Watch {
  readonly started = Promise.resolve();
  readonly outputFrom: number;
  readonly #terminal: Terminal;
  readonly #line: string;
  readonly #prompt: string;
  readonly #by: string;
  readonly #ended = deferred<Ending>();
  readonly #listening: Disposable[];

  constructor(terminal: Terminal, line: string, prompt: string, by: string) {
    this.#terminal = terminal;
    this.#line = line;
    this.#prompt = prompt;
    this.#by = by;
    this.outputFrom = terminal.log.end;
    const outer = terminal.blocks.current?.id;
    this.#listening = [
      whenExited(terminal, (ended) => this.#finish(exited(ended, this.outputFrom, terminal.log.end))),
      terminal.block.on((event) => {
        if (event.type !== 'ended' || event.block.id !== outer) return;
        // Blocks are told before the output they lie in; that may hold the rest of ours.
        queueMicrotask(() => this.outerEnded(event.block));
      }),
      afterQuiet(terminal, quietMs, (signal) => this.#look(signal, false)),
      afterQuiet(terminal, moreMs, (signal) => this.#look(signal, true)),
    ];
  }

  get ended(): Promise<Ending> {
    return this.#ended.promise;
  }

  outerEnded(outer: Outer): void {
    const outputTo = outer.outputTo ?? this.#terminal.log.end;
    this.#finish({
      ...endedWith(outer, this.outputFrom, outputTo),
      text: this.#text(outputTo, ''),
      note: 'The program ended with it; the exit code is that of the program.',
    });
  }

  [Symbol.dispose](): void {
    for (const listening of this.#listening) listening[Symbol.dispose]();
  }

  textSoFar(): string {
    return this.#text(this.#terminal.log.end, '');
  }

  async #look(signal: AbortSignal, long: boolean): Promise<void> {
    if (this.#terminal.log.end === this.outputFrom) return;
    await this.#terminal.sync(signal);
    const line = cursorLine(this.#terminal);
    if (uncounted(line) === uncounted(this.#prompt)) return this.#finish(this.#quiet(line, 'medium'));
    if (!long || !looksLikePrompt(line)) return;
    if (!looksLikeContinuation(line)) return this.#finish(this.#quiet(line, 'low'));
    const incomplete = this.#quiet(line, 'medium');
    await this.#terminal.send(interrupt, this.#by, signal);
    this.#finish({
      ...incomplete,
      state: 'incomplete',
      note: 'The program wanted more lines. What it had was dropped with Ctrl+C.',
    });
  }

  #quiet(line: string, confidence: Confidence): Ending {
    const outputTo = this.#terminal.log.end;
    return {
      state: 'done',
      exitCode: null,
      evidence: 'quiet',
      confidence,
      outputFrom: this.outputFrom,
      outputTo,
      text: this.#text(outputTo, line),
      note: 'Not a shell: it shows its prompt and is quiet. It has no exit code.',
    };
  }

  /** The prompt is rendered with it, so that an echo that is redrawn stands where it stood. */
  #text(to: number, promptAfter: string): string {
    const { log, size } = this.#terminal;
    const { bytes } = log.read(this.outputFrom, to);
    const lines = renderText(Buffer.concat([Buffer.from(this.#prompt), bytes]), size).split('\n');
    for (const typed of this.#line.split('\n')) {
      if (lines[0]?.trimEnd().endsWith(typed.trimEnd()) === true) lines.shift();
    }
    if (promptAfter !== '' && lines.at(-1)?.trimEnd() === promptAfter.trimEnd()) lines.pop();
    return lines.join('\n');
  }

  #finish(ending: Ending): void {
    this[Symbol.dispose]();
    this.#ended.resolve(ending);
  }
}

/** `In [3]: ` and `In [4]: ` are the same prompt. */
const uncounted = (prompt: string): string => prompt.replace(/\d+/g, '#').trimEnd();
