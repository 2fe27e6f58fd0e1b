import type { Clock } from '../../../lib/clock.ts';
import { Emitter } from '../../../lib/emitter.ts';
import type { KeyboardHolder } from '../../input/keyboard-lease.ts';
import { timings } from '../../waiting/timings.ts';
import type { Block } from '../blocks.ts';
import type { Size } from '../channel.ts';
import type { OutputLog } from '../output-log.ts';
import type { Terminal } from '../terminal.ts';

/** Input as a reader may know of it: never its text, and of a secret not even its length. */
export interface TypedInput {
  readonly by: string;
  readonly kind: KeyboardHolder['kind'];
  readonly secret: boolean;
  readonly bytes?: number;
}

/** What can happen to a terminal beside its output. */
export type Happening =
  | ({ readonly event: 'typed' } & TypedInput)
  /** The shell has drawn its prompt. */
  | { readonly event: 'prompt' }
  | { readonly event: 'block'; readonly block: Block }
  | ({ readonly event: 'size'; readonly by?: string } & Size)
  | ({ readonly event: 'lease'; readonly epoch: number } & Partial<Pick<KeyboardHolder, 'by' | 'kind' | 'isTaken'>>);

interface Numbered {
  /** Higher for each, also in the next process. */
  readonly n: number;
  /** It came before the byte at this offset. Never less than that of the event before. */
  readonly off: number;
  /** In ms since the epoch. */
  readonly at: number;
}

export type HistoryEvent = Happening & Numbered;

export type TypedEvent = Extract<HistoryEvent, { readonly event: 'typed' }>;

interface HistoryInit {
  readonly clock: Clock;
  readonly log: Pick<OutputLog, 'end'>;
  readonly saved?: readonly TypedEvent[] | undefined;
}

const mostKept = 1000;
/** For the next process. */
const mostSaved = 100;
const { lineMs } = timings.history;

/** What happened to a terminal, ordered with its output: who typed, commands, sizes, who has the keyboard. The newest are kept. */
export class TerminalHistory {
  readonly added = new Emitter<HistoryEvent>();
  readonly #init: HistoryInit;
  readonly #events: HistoryEvent[] = [];
  #last: number;
  #off = 0;
  /** The line that a sender has begun: further keys belong to it. */
  #line: { event: TypedEvent; usedMs: number } | undefined;

  constructor(init: HistoryInit) {
    this.#init = init;
    this.#events.push(...(init.saved ?? []));
    // By the time, so that a reader of the process before us is behind all that comes.
    this.#last = init.clock.now();
  }

  /** The number of the newest. */
  get last(): number {
    return this.#last;
  }

  /** Who typed, oldest first. */
  get typed(): readonly TypedEvent[] {
    return this.#events.filter((one) => one.event === 'typed');
  }

  /** What came after the event with this number, up to an offset. */
  since(n: number, to: number): readonly HistoryEvent[] {
    let from = this.#events.length;
    while (from > 0 && (this.#events[from - 1] as HistoryEvent).n > n) from--;
    const until = this.#events.findIndex(({ off }, at) => at >= from && off > to);
    return this.#events.slice(from, until === -1 ? undefined : until);
  }

  add(happening: Happening, off: number = this.#init.log.end): void {
    this.#line = undefined;
    this.#add(happening, off);
  }

  /** Keys that go on with a line are part of it. `ends`: they end it. */
  type(input: TypedInput, ends: boolean): void {
    const usedMs = this.#init.clock.monotonic();
    const line = this.#line;
    const goesOn =
      line !== undefined &&
      usedMs - line.usedMs < lineMs &&
      line.event.by === input.by &&
      line.event.kind === input.kind &&
      line.event.secret === input.secret;
    const event = goesOn
      ? this.#lengthen(line.event, input)
      : this.#add({ event: 'typed', ...input }, this.#init.log.end);
    this.#line = ends ? undefined : { event, usedMs };
  }

  /** For the next process. */
  save(): readonly TypedEvent[] {
    return this.typed.slice(-mostSaved);
  }

  #add<One extends Happening>(happening: One, off: number): One & Numbered {
    const { clock } = this.#init;
    this.#last = Math.max(this.#last + 1, clock.now());
    this.#off = Math.max(this.#off, off);
    const event = { ...happening, n: this.#last, off: this.#off, at: clock.now() };
    this.#events.push(event);
    if (this.#events.length > mostKept) this.#events.shift();
    this.added.emit(event);
    return event;
  }

  #lengthen(event: TypedEvent, { bytes = 0 }: TypedInput): TypedEvent {
    if (event.bytes === undefined) return event;
    const longer = { ...event, bytes: event.bytes + bytes };
    const at = this.#events.lastIndexOf(event);
    if (at >= 0) this.#events[at] = longer;
    return longer;
  }
}

/** Writes down what happens to a terminal, as it happens. */
export function listenFor({ input, blocks, screen, usage, feed }: Terminal): void {
  const { history } = usage;
  input.typed.on(({ by, kind, bytes, ends }) => {
    const secret = bytes === undefined;
    history.type({ by, kind, secret, ...(secret ? {} : { bytes }) }, ends);
  });
  blocks.events.on((event) => {
    if (event.type === 'prompt') history.add({ event: 'prompt' }, event.at);
    else {
      const { block } = event;
      history.add({ event: 'block', block }, event.type === 'started' ? block.outputFrom : block.outputTo);
    }
  });
  screen.resized.on((size) => {
    const { sizedBy } = usage;
    history.add({ event: 'size', ...size, ...(sizedBy === undefined ? {} : { by: sizedBy }) }, feed.shownTo);
  });
  input.lease.changed.on((holder) => {
    const { epoch } = input.lease;
    const who = holder && { by: holder.by, kind: holder.kind, isTaken: holder.isTaken };
    history.add({ event: 'lease', epoch, ...who });
  });
}

/** Offsets whose rows a reader may ask for, in order: where input began, and the parts of commands. */
export function historyOffsets({ usage, blocks }: Pick<Terminal, 'usage' | 'blocks'>): readonly number[] {
  const parts = blocks.list.flatMap(({ promptFrom, outputFrom, outputTo }) => [promptFrom, outputFrom, outputTo]);
  const offsets = [...usage.history.typed.map(({ off }) => off), ...parts, blocks.promptFrom];
  return [...new Set(offsets.filter((one) => one !== undefined))].toSorted((a, b) => a - b);
}
