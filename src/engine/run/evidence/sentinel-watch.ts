import { deferred } from '../../../lib/deferred.ts';
import type { Dialect } from '../../shells/traits.ts';
import { renderText } from '../../screen/render-text.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { endedWith, endedByExit, whenExited } from './exited.ts';
import { SentinelScanner } from './sentinel-scanner.ts';
import { cursorLine, looksLikeContinuation, looksLikePrompt } from '../../shells/prompt-line.ts';
import { afterQuiet } from '../../waiting/quiet-watch.ts';
import type { CommandOutcome, Outer, Watch } from '../result.ts';
import { statusLine } from '../../shells/command-text.ts';
import { editsLine } from '../../shells/input-mode.ts';
import { timings } from '../../waiting/timings.ts';

const { typedAheadMs, quietMs } = timings.sentinel;

const interrupt = Uint8Array.of(3);

interface SentinelTarget {
  readonly dialect: Dialect;
  /** The line before the cursor when the command was sent. */
  readonly prompt: string;
  readonly token: string;
  readonly by: string;
  /** The shell told by marks what it did, and does no longer. */
  readonly silent: boolean;
}

const early = 'The program it was typed at ended before it began; the shell before that ran it.';
const silent = 'The shell no longer tells by marks how a command went: it was told to print it.';

/** Follows a command through what its shell was told to print around it. Make it before it is sent. */
export class SentinelWatch implements Watch {
  readonly omit: string;
  readonly #terminal: Terminal;
  readonly #target: SentinelTarget;
  readonly #scanner: SentinelScanner;
  readonly #ended = deferred<CommandOutcome>();
  readonly #started = deferred();
  readonly #listening: Disposable[];
  readonly #sentAt: number;
  readonly #shellPid: number | undefined;
  #from: number | undefined;
  #early = false;
  #asked: { readonly at: number; readonly line: string } | undefined;

  constructor(terminal: Terminal, target: SentinelTarget) {
    this.#terminal = terminal;
    this.#target = target;
    this.omit = target.token;
    this.#scanner = new SentinelScanner(target.token);
    this.#sentAt = terminal.log.end;
    this.#shellPid = terminal.process?.foreground()?.pid;
    const outer = terminal.blocks.current?.id;
    this.#listening = [
      whenExited(terminal, (ended) => this.#finish(endedByExit(ended, this.outputFrom, terminal.log.end))),
      terminal.output.on(({ bytes, from }) => this.#read(bytes, from)),
      terminal.blocks.events.on((event) => {
        if (event.type !== 'ended' || event.block.id !== outer) return;
        // A shell that tells where its commands begin but not where they end: ours is the next one.
        if (terminal.blocks.current !== undefined) return;
        // Blocks are told before the output they lie in; that may hold the rest of ours.
        queueMicrotask(() => this.outerEnded(event.block));
      }),
      afterQuiet(terminal, quietMs, (signal) => this.#look(signal)),
    ];
  }

  get ended(): Promise<CommandOutcome> {
    return this.#ended.promise;
  }

  get started(): Promise<void> {
    return this.#started.promise;
  }

  get outputFrom(): number {
    return this.#from ?? this.#sentAt;
  }

  textSoFar(): string | undefined {
    return this.#from === undefined ? '' : undefined;
  }

  /** The shell that ran it is gone, and the one below tells us so. */
  outerEnded(outer: Outer): void {
    if (this.#from === undefined) {
      this.#early = true;
      const unknown = (): void => {
        if (this.#from === undefined) this.#finish(this.#unknown());
      };
      this.#listening.push(this.#terminal.clock.after(typedAheadMs, unknown));
      return;
    }
    this.#finish({
      ...endedWith(outer, this.outputFrom, outer.outputTo ?? this.#terminal.log.end),
      note: 'It ended the shell it ran in; the terminal is back in the shell before that.',
    });
  }

  [Symbol.dispose](): void {
    for (const listening of this.#listening) listening[Symbol.dispose]();
  }

  #read(bytes: Uint8Array, from: number): void {
    for (const found of this.#scanner.scan(bytes, from)) {
      if (found.kind === 'start') {
        this.#from = found.at;
        this.#started.resolve();
      } else {
        this.#finish(this.#done(found.status, found.at));
      }
    }
  }

  #done(status: number, at: number): CommandOutcome {
    const { outputFrom } = this;
    const answered = { state: 'done', exitCode: status, evidence: 'marker', confidence: 'high', outputFrom } as const;
    if (this.#asked === undefined) {
      const note = this.#early ? early : this.#target.silent ? silent : undefined;
      return { ...answered, outputTo: at, ...(note === undefined ? {} : { note }) };
    }
    return {
      ...answered,
      outputTo: this.#asked.at,
      text: this.#withoutPrompt(this.#asked.at, this.#asked.line),
      note: 'It was broken off; the shell was asked at its next prompt how it went.',
    };
  }

  /** Quiet, and no marker: a command that says nothing, or a shell that dropped what it was told. */
  async #look(signal: AbortSignal): Promise<void> {
    const { log, process } = this.#terminal;
    if (log.end === this.#sentAt || this.#asked !== undefined) return;
    await this.#terminal.sync(signal);
    const foreground = process?.foreground();
    if (process !== undefined && foreground?.pid !== this.#shellPid) return;
    const line = cursorLine(this.#terminal);
    const { prompt, by, token, dialect } = this.#target;
    const editing = process !== undefined && editsLine(this.#terminal);
    if (line === prompt || (editing && looksLikePrompt(line) && !looksLikeContinuation(line))) {
      if (this.#from === undefined) return this.#finish(this.#ignored(line));
      this.#asked = { at: log.end, line };
      await this.#terminal.input.send(Buffer.from(statusLine(token, dialect)), by, signal, 'command');
    } else if (this.#from === undefined && looksLikeContinuation(line)) {
      await this.#terminal.input.send(interrupt, by, signal);
      this.#finish(this.#incomplete());
    }
  }

  /** Back at the prompt without having begun: not a shell of the kind it was taken for, or one that cannot printf. */
  #ignored(line: string): CommandOutcome {
    return {
      state: 'done',
      exitCode: null,
      evidence: 'foreground',
      confidence: 'low',
      outputFrom: this.#sentAt,
      outputTo: this.#terminal.log.end,
      text: this.#withoutPrompt(this.#terminal.log.end, line),
      note: 'The shell is back at its prompt but did not report; the text holds the line as typed. Whether it ran is not known.',
    };
  }

  /** The foreground program ended before it began, and may have read the line as an answer. */
  #unknown(): CommandOutcome {
    return {
      state: 'done',
      exitCode: null,
      evidence: 'none',
      confidence: 'low',
      outputFrom: this.#sentAt,
      outputTo: this.#terminal.log.end,
      text: '',
      note: 'The program it was typed at ended before it began: it is not known whether it ran.',
    };
  }

  #incomplete(): CommandOutcome {
    return {
      state: 'incomplete',
      exitCode: null,
      evidence: 'quiet',
      confidence: 'medium',
      outputFrom: this.#sentAt,
      outputTo: this.#terminal.log.end,
      text: '',
      note: 'The shell wanted more: a quote, a bracket or a word is missing. It was dropped with Ctrl+C.',
    };
  }

  #withoutPrompt(to: number, line: string): string {
    const { log, screen } = this.#terminal;
    const text = renderText(log.read(this.outputFrom, to).bytes, screen.size);
    const prompt = line.trimEnd();
    return text.trimEnd().endsWith(prompt) ? text.trimEnd().slice(0, -prompt.length).trimEnd() : text;
  }

  #finish(ending: CommandOutcome): void {
    this[Symbol.dispose]();
    this.#started.resolve();
    this.#ended.resolve(ending);
  }
}
