import type { Redactor } from '../../redaction/redactor.ts';
import { Screen } from '../../screen/screen.ts';
import { systemClock } from '../../../system/clock.ts';
import { type CastEvent, type CastPlace, parseSize } from '../cast/cast-reader.ts';
import { EventMask, type MaskedEvent } from '../cast/event-mask.ts';
import { type Keyframe, keyLine } from './keyframe.ts';
import { isPlain, tailOf } from './plain-tail.ts';

interface KeyframerOptions {
  readonly redactor: Redactor;
  /** Where to begin: the last keyframe that was made, or a blank one. */
  readonly from: Keyframe;
  /** Wall clock of a moment of the cast. */
  readonly wallClock: (atMs: number) => number;
  /** Offset in the terminal's log up to which the cast has its output at this byte, where that is known. */
  readonly offset?: ((pos: number) => number | undefined) | undefined;
  /** Bytes of keyframes and commands seen before. */
  readonly before?: { readonly bytes: number; readonly blocks: number };
}

const everyMicros = 5_000_000;
/** Also after so much output, so that a seek never plays more than this. */
const everyChars = 512 << 10;
/** Output waits for the emulator up to this much; most of a flood of plain text never needs it. */
const mostQueued = 128 << 10;
/** No further keyframes: a seek behind them plays from the last one. */
const mostBytes = 64 << 20;

/** Where the shell says that the output of a command begins. */
const beginning = /\x1b\](?:133|633);C/g;

/**
 * Makes keyframes of the events of a cast: one where each command begins, and one for every five seconds with output. Each lies at
 * the start of a line, where the mask holds nothing, so playing on from it masks the same secrets as playing from the start.
 */
export class Keyframer implements Disposable {
  readonly #options: KeyframerOptions;
  readonly #mask: EventMask;
  readonly #screen: Screen;
  #place: CastPlace;
  #micros: number;
  #lastMicros: number;
  #sinceLast = 0;
  #blocks: number;
  /** A command has begun since the last keyframe. */
  #block: number | undefined;
  #bytes: number;
  /** Plain output that the mask and the screen have not seen. It begins at the start of a line. */
  #queue: string[] = [];
  #queued = 0;

  constructor(options: KeyframerOptions) {
    const { redactor, from, before } = options;
    this.#options = options;
    this.#mask = new EventMask(redactor, from.size);
    this.#screen = blankScreen(from);
    this.#place = { pos: from.pos, atMs: (from.base ?? from.t) * 1000 };
    this.#micros = this.#lastMicros = Math.round(from.t * 1e6);
    this.#blocks = before?.blocks ?? 0;
    this.#bytes = before?.bytes ?? 0;
  }

  /** Where the next event begins. */
  get place(): CastPlace {
    return this.#place;
  }

  /** The next event, without the characters that the first keyframe shows already. */
  accept(event: CastEvent, skip = 0): Keyframe[] {
    const start = this.#place;
    this.#micros = Math.max(this.#micros, Math.round(event.atMs * 1000));
    const keys = event.code === 'o' ? this.#output(event, skip, start) : this.#between(event);
    this.#place = { pos: event.end, atMs: event.atMs };
    return keys;
  }

  /** Puts the emulator away until it is needed again. */
  rest(): void {
    this.#show();
    this.#screen.hibernate();
  }

  [Symbol.dispose](): void {
    this.#screen[Symbol.dispose]();
  }

  #between(event: CastEvent): Keyframe[] {
    this.#show();
    this.#apply(this.#mask.push(event));
    return [];
  }

  #output({ data, atMs, end }: CastEvent, skip: number, start: CastPlace): Keyframe[] {
    const keys: Keyframe[] = [];
    let at = skip;
    const upTo = (cut: number): void => {
      if (cut > at) this.#push(data.slice(at, cut), atMs);
      at = Math.max(at, cut);
    };
    const tryAt = (cut: number): void => {
      if (cut < at || this.#bytes >= mostBytes) return;
      upTo(cut);
      this.#show();
      if (!this.#mask.isFresh) return;
      const place = at >= data.length ? { pos: end, atMs } : start;
      keys.push(this.#keyframe(place, at >= data.length ? 0 : at));
    };
    beginning.lastIndex = skip;
    for (let mark = beginning.exec(data); mark !== null; mark = beginning.exec(data)) {
      this.#block = ++this.#blocks;
      tryAt(Math.max(skip, data.lastIndexOf('\n', mark.index) + 1));
    }
    if (this.#isDue) tryAt(Math.max(skip, lineStart(data)));
    upTo(data.length);
    if (this.#isDue) tryAt(data.length);
    return keys;
  }

  get #isDue(): boolean {
    const since = this.#micros - this.#lastMicros;
    return this.#block !== undefined || since >= everyMicros || this.#sinceLast >= everyChars;
  }

  #push(text: string, atMs: number): void {
    this.#sinceLast += text.length;
    if (!isPlain(text)) {
      this.#show();
      return this.#apply(this.#mask.push({ atMs, code: 'o', data: text }));
    }
    let rest = text;
    if (this.#queued === 0 && !this.#mask.isFresh) {
      const line = text.lastIndexOf('\n') + 1;
      this.#apply(this.#mask.push({ atMs, code: 'o', data: text.slice(0, line || text.length) }));
      if (line === 0) return;
      rest = text.slice(line);
      if (!this.#mask.isFresh) return this.#apply(this.#mask.push({ atMs, code: 'o', data: rest }));
    }
    if (rest === '') return;
    this.#queue.push(rest);
    this.#queued += rest.length;
    if (this.#queued > mostQueued) this.#shorten();
  }

  /** Of plain text only the end can be seen, unless the program has set the terminal up in an unusual way. */
  #shorten(): void {
    const text = this.#queue.join('');
    const tail = this.#screen.follow(0) === undefined ? undefined : tailOf(text, this.#screen.size.rows);
    this.#queue = [tail ?? text];
    this.#queued = tail?.length ?? text.length;
    if (tail === undefined) this.#show();
  }

  #show(): void {
    if (this.#queued === 0) return;
    if (this.#queued > mostQueued >> 2) this.#queue = [this.#queue.join('')];
    const data = this.#queue.join('');
    this.#queue = [];
    this.#queued = 0;
    this.#apply(this.#mask.push({ atMs: this.#micros / 1000, code: 'o', data }));
  }

  #apply(events: readonly MaskedEvent[]): void {
    for (const event of events) applyEvent(this.#screen, event);
  }

  #keyframe({ pos, atMs }: CastPlace, skip: number): Keyframe {
    const { wallClock, offset } = this.#options;
    const off = offset?.(pos);
    const [t, base] = [this.#micros / 1e6, atMs / 1000];
    const key: Keyframe = {
      t,
      at: Math.round(wallClock(this.#micros / 1000)),
      ...(off === undefined ? {} : { off }),
      pos,
      ...(base === t ? {} : { base }),
      ...(skip === 0 ? {} : { skip }),
      ...(this.#block === undefined ? {} : { block: this.#block }),
      size: this.#screen.size,
      screen: this.#screen.snapshot(),
    };
    this.#lastMicros = this.#micros;
    this.#sinceLast = 0;
    this.#block = undefined;
    this.#bytes += Buffer.byteLength(keyLine(key));
    return key;
  }
}

/** A screen that shows what a keyframe does. Rows that scroll out are not kept: a keyframe does not have them either. */
export function blankScreen({ size, screen: drawn }: Pick<Keyframe, 'size' | 'screen'>): Screen {
  const screen = new Screen({ size, scrollback: 0, clock: systemClock });
  screen.feed(Buffer.from(drawn));
  return screen;
}

export function applyEvent(screen: Screen, { code, data }: MaskedEvent): void {
  const size = code === 'r' ? parseSize(data) : undefined;
  if (size !== undefined) screen.resize(size);
  else if (code === 'o') screen.feed(Buffer.from(data));
}

/** Behind the last line end, or the last place the cursor was sent to; else the end. */
function lineStart(data: string): number {
  const line = data.lastIndexOf('\n');
  if (line >= 0) return line + 1;
  const home = data.lastIndexOf('H');
  return home >= 0 && /\x1b\[[\d;]*H$/.test(data.slice(Math.max(0, home - 16), home + 1)) ? home + 1 : data.length;
}
