import { deferred } from '../../lib/deferred.ts';
import { promptShows, shellPromptShows } from '../shells/line-reader.ts';
import { afterQuiet } from './quiet-watch.ts';
import { renderText } from '../screen/render-text.ts';
import { abortable } from '../../system/abortable.ts';
import { promptedSince } from './answered.ts';
import type { TerminalState } from '../terminal/organs/state.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { checkConditions, type Condition, type Match, type Matcher, matcherOf } from './condition.ts';
import { answerFrom } from './echo.ts';
import { PrintedText } from './printed-text.ts';
import { ShownText } from './shown-text.ts';

export type { Condition } from './condition.ts';
import { timings } from './timings.ts';

const { promptQuietMs, takenMs, enteredMs } = timings.condition;

interface WaitRequest {
  /** Any of them ends the wait; of several at once the first in the list. */
  readonly conditions: readonly Condition[];
  readonly timeoutMs: number;
  /** Output from this offset of the log on counts; by default all since the newest input, without its echo if marked. */
  readonly since?: number | undefined;
  /** What the screen shows counts besides, whenever it was printed. */
  readonly shown?: boolean;
}

interface WaitResult {
  /** The place in the list of the condition that holds; undefined when the time was up. */
  readonly hit: number | undefined;
  /** For text and regex: what matched, and the line it stands in. */
  readonly match?: Match;
  /** For a command: how it went, null where the shell did not say. */
  readonly exitCode?: number | null;
  readonly elapsedMs: number;
  readonly state: TerminalState;
  /** Pass it as `since` to go on from here. */
  readonly offset: number;
}

/** More of the past is not rendered. */
const renderedBytes = 64 << 10;

/** Waits for the first of several conditions. Event-driven; nothing that scrolls past is missed. */
export async function awaitCondition(
  terminal: Terminal,
  request: WaitRequest,
  signal: AbortSignal,
): Promise<WaitResult> {
  checkConditions(request.conditions);
  using _present = terminal.usage.keepAwake();
  await terminal.sync(signal);
  using waiting = new Waiting(terminal, request);
  const startedMs = terminal.clock.monotonic();
  const outcome = await abortable(waiting.outcome, signal);
  return {
    ...outcome,
    elapsedMs: Math.round(terminal.clock.monotonic() - startedMs),
    state: terminal.state.current,
    offset: terminal.log.end,
  };
}

type Outcome = Pick<WaitResult, 'hit' | 'match' | 'exitCode'>;

class Waiting implements Disposable {
  readonly #terminal: Terminal;
  readonly #conditions: readonly Condition[];
  readonly #matchers: readonly (Matcher | undefined)[];
  readonly #since: number;
  readonly #whole: boolean;
  readonly #printed = new PrintedText();
  #shown: ShownText;
  readonly #outcome = deferred<Outcome>();
  readonly #listening: Disposable[] = [];
  readonly #ending = new AbortController();
  #command: { readonly exitCode: number | null } | undefined;
  #due = false;
  /** Where text counts from; undefined while what is printed may be the echo of a command. */
  #from: number | undefined;
  /** The output of a command begins on a line of its own. */
  #lead = '';
  #fedTo = 0;
  #released = false;

  constructor(terminal: Terminal, { conditions, timeoutMs, since, shown = false }: WaitRequest) {
    this.#terminal = terminal;
    this.#conditions = conditions;
    this.#matchers = conditions.map(matcherOf);
    this.#since = since ?? terminal.input.last?.offset ?? terminal.log.end;
    this.#from = since ?? answerFrom(terminal);
    // The echo may be in the log and not yet on the screen.
    this.#released = this.#from !== this.#since;
    this.#shown = new ShownText(terminal);
    this.#whole = shown;
    this.#lookBack();
    if (shown) this.#match(this.#shown.all());
    this.#lastCommand();
    if (this.#ending.signal.aborted || this.#check()) return;
    this.#listening.push(
      terminal.feed.parseEagerly(),
      terminal.output.on(({ bytes, from }) => this.#output(bytes, from)),
      terminal.state.changed.on(() => this.#check()),
      terminal.blocks.events.on((event) => {
        if (event.type === 'started') this.#release(event.block.outputFrom);
        if (event.type === 'prompt') this.#release(this.#secondLine());
        if (event.type === 'ended') this.#command = { exitCode: event.block.exitCode ?? null };
        this.#check();
      }),
      terminal.clock.after(timeoutMs, () => this.#settle({ hit: undefined })),
    );
    if (this.#from === undefined) {
      const quietMs = terminal.input.last?.entered === true ? enteredMs : takenMs;
      this.#listening.push(afterQuiet(terminal, quietMs, () => this.#release(this.#since)));
    }
    this.#watchQuiet();
  }

  get outcome(): Promise<Outcome> {
    return this.#outcome.promise;
  }

  [Symbol.dispose](): void {
    this.#ending.abort();
    for (const one of this.#listening) one[Symbol.dispose]();
  }

  /** What was printed before the wait began and counts. */
  #lookBack(): void {
    const { blocks, log } = this.#terminal;
    if (this.#from === undefined) return;
    this.#lead = blocks.list.some(({ outputFrom }) => outputFrom === this.#from) ? '\n' : '';
    this.#printed.feed(Buffer.from(this.#lead));
    if (log.end <= this.#from) return;
    const { bytes } = log.read(this.#from);
    this.#fedTo = log.end;
    this.#printed.feed(bytes);
    this.#match(this.#printed.text);
    if (this.#matchers.some((matcher) => matcher !== undefined)) this.#match(this.#rendered(bytes));
  }

  #rendered(bytes: Uint8Array): string {
    const newest = bytes.subarray(-renderedBytes);
    return (newest.length === bytes.length ? this.#lead : '') + renderText(newest, this.#terminal.screen.size);
  }

  #lastCommand(): void {
    const { last } = this.#terminal.blocks;
    if (last?.isOver === true && (last.outputTo ?? 0) > this.#since) {
      this.#command = { exitCode: last.exitCode ?? null };
    }
  }

  /** The echo is over: what comes from here on counts. */
  #release(from: number): void {
    if (this.#from !== undefined) return;
    this.#from = from;
    this.#fedTo = from;
    this.#released = true;
    this.#lookBack();
  }

  /** After the line that was entered, and that no command came of. */
  #secondLine(): number {
    const { log } = this.#terminal;
    const end = log.read(this.#since).bytes.indexOf(10);
    return end === -1 ? log.end : this.#since + end + 1;
  }

  #output(bytes: Uint8Array, from: number): void {
    if (this.#from !== undefined && this.#matchers.some((matcher) => matcher !== undefined)) {
      this.#printed.feed(bytes.subarray(Math.max(0, this.#fedTo - from)));
      if (this.#match(this.#printed.text)) return;
    }
    // A flood must not make every chunk read the screen: one look per turn of the loop is enough.
    if (this.#due) return;
    this.#due = true;
    setImmediate(() => {
      this.#due = false;
      if (this.#ending.signal.aborted) return;
      // A look that began before the echo was over may end before it is shown.
      const counts = this.#from !== undefined;
      this.#terminal.sync(this.#ending.signal).then(
        () => {
          if (!counts || !this.#matchShown()) this.#check();
        },
        () => {},
      );
    });
  }

  #matchShown(): boolean {
    if (this.#whole) return this.#match(this.#shown.all());
    if (!this.#released || this.#from === undefined) return this.#match(this.#shown.changed());
    // What was shown until now holds the echo: from here on only what changes counts.
    this.#released = false;
    this.#shown = new ShownText(this.#terminal);
    const { bytes } = this.#terminal.log.read(this.#from);
    return this.#match(this.#rendered(bytes));
  }

  #match(text: string): boolean {
    for (const [hit, matcher] of this.#matchers.entries()) {
      const match = matcher?.(text);
      if (match) return this.#settle({ hit, match });
    }
    return false;
  }

  /** Conditions that are about the state of things. */
  #check(): boolean {
    const { ended } = this.#terminal;
    const { prompts: attention } = this.#terminal.person;
    for (const [hit, condition] of this.#conditions.entries()) {
      if ((condition.type === 'exit' || condition.type === 'quiet') && ended) return this.#settle({ hit });
      if (condition.type === attention.current?.needs) return this.#settle({ hit });
      if (condition.type === 'prompt' && this.#prompted()) return this.#settle({ hit });
      if (condition.type === 'gone' && !this.#shown.has(condition.text)) return this.#settle({ hit });
      if (condition.type === 'command' && this.#command) return this.#settle({ hit, ...this.#command });
    }
    // Nothing more will be printed, so waiting for text would never end.
    return ended ? this.#settle({ hit: undefined }) : false;
  }

  #prompted(): boolean {
    const { blocks } = this.#terminal;
    const { last: lastInput = { atMs: 0, offset: -1 } } = this.#terminal.input;
    const { marked } = blocks;
    return marked && !blocks.incomplete && promptedSince(this.#terminal, lastInput);
  }

  /** Whether the prompt that shows once the terminal is quiet is the one after the line last entered. */
  #promptStays(shows: (terminal: Terminal) => boolean): boolean {
    const { blocks, log } = this.#terminal;
    const { last: lastInput } = this.#terminal.input;
    const { marked } = blocks;
    // A prompt that was there before the line was entered is not the one after it.
    if (lastInput?.entered === true && log.end === lastInput.offset) return false;
    if (!marked || blocks.state !== 'prompt') return shows(this.#terminal);
    // The line that was typed ahead of the prompt went to what ran before.
    return lastInput?.ahead === true && promptedSince(this.#terminal, { ...lastInput, ahead: false });
  }

  #watchQuiet(): void {
    for (const [hit, condition] of this.#conditions.entries()) {
      if (condition.type === 'quiet') {
        const since = Math.max(this.#terminal.input.last?.atMs ?? 0, this.#terminal.usage.lastOutputMs ?? 0);
        this.#listening.push(afterQuiet(this.#terminal, condition.ms, () => void this.#settle({ hit }), since));
      } else if (condition.type === 'prompt' || condition.type === 'command') {
        this.#listening.push(
          afterQuiet(this.#terminal, promptQuietMs, async (signal) => {
            await this.#terminal.sync(signal);
            if (!this.#promptStays(condition.type === 'prompt' ? shellPromptShows : promptShows)) return;
            this.#settle(condition.type === 'prompt' ? { hit } : { hit, exitCode: null });
          }),
        );
      }
    }
  }

  #settle(outcome: Outcome): true {
    this.#outcome.resolve(outcome);
    this[Symbol.dispose]();
    return true;
  }
}
