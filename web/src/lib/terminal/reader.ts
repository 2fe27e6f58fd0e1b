import type { Failure, Reader } from '../live.ts';
import type { Followed, FollowedEvent } from '../shapes.ts';

/** What the reader writes to: xterm.js, or its headless sister in tests. */
export interface Emulator {
  readonly cols: number;
  readonly rows: number;
  /** Calls back when it has parsed the data, before it parses what was written after. */
  write(data: string | Uint8Array, parsed?: () => void): void;
  resize(cols: number, rows: number): void;
}

/** A screen that takes the place of everything before it. */
export type NewScreen = NonNullable<Followed['screen']>;

export interface ReaderEvents {
  /** It is on the screen; `missed` bytes before it never were. */
  readonly screen?: (screen: NewScreen, missed: number) => void;
  /** Everything before it is on the screen, and nothing after. */
  readonly event?: (event: FollowedEvent) => void;
  readonly ended: (how: string) => void;
  readonly failed: (failure: Failure) => void;
}

export interface Link {
  read<Item>(reader: Reader<Item>): () => void;
}

/** A terminal of the server in an emulator: its screen, then its bytes and events, without a gap or one of them twice. */
export class TerminalReader {
  readonly #emulator: Emulator;
  readonly #on: ReaderEvents;
  /** The offset of the next byte to show, and the newest event; undefined before the first screen. */
  #have: number | undefined;
  #event = 0;
  /** The beginning of a character whose rest has not come: xterm.js drops some that are cut. */
  #begun: Uint8Array = new Uint8Array(0);
  readonly #stop: () => void;
  #isOver = false;

  constructor(link: Link, session: string, emulator: Emulator, on: ReaderEvents) {
    this.#emulator = emulator;
    this.#on = on;
    this.#stop = link.read<Followed>({
      stream: 'person.follow',
      input: () => ({
        session,
        screen: true,
        ...(this.#have === undefined ? {} : { from: this.#have, event: this.#event }),
      }),
      item: (item) => this.#take(item),
      failed: on.failed,
      pausesWhenHidden: true,
    });
  }

  /** The offset of the next byte to show. */
  get have(): number | undefined {
    return this.#have;
  }

  stop(): void {
    this.#isOver = true;
    this.#stop();
  }

  /** Settles when the emulator has parsed it: only then the server sends more. */
  #take({ from, bytes, missed, screen, events = [], ended }: Followed): Promise<void> {
    const pieces = screen ? [this.#begin(from, screen, missed)] : this.#goOn(from, bytesOf(bytes), events);
    if (ended !== undefined) pieces.push(this.#write('', () => this.#on.ended(ended)));
    return pieces.at(-1) ?? Promise.resolve();
  }

  #begin(from: number, screen: NewScreen, missed: number): Promise<void> {
    this.#have = from;
    this.#event = screen.event;
    // As bytes, so that it comes after what is not parsed yet and ends what is begun.
    this.#begun = new Uint8Array(0);
    void this.#write(fullReset);
    this.#resize(screen.cols, screen.rows);
    return this.#write(bytesOf(screen.screen), () => this.#on.screen?.(screen, missed));
  }

  /** Writes up to each event, then tells it: it came before the byte at its offset. */
  #goOn(from: number, bytes: Uint8Array, events: readonly FollowedEvent[]): Promise<void>[] {
    if (this.#have === undefined) return [];
    const pieces: Promise<void>[] = [];
    let at = Math.max(this.#have, from);
    const writeTo = (to: number): void => {
      if (to > at) pieces.push(this.#write(this.#whole(bytes.subarray(at - from, to - from))));
      at = Math.max(at, to);
    };
    for (const event of events) {
      if (event.n <= this.#event) continue;
      this.#event = event.n;
      writeTo(Math.min(event.off, from + bytes.length));
      if (event.event === 'size') this.#resize(event.cols, event.rows);
      pieces.push(this.#write('', () => this.#on.event?.(event)));
    }
    writeTo(from + bytes.length);
    this.#have = at;
    return pieces;
  }

  /** The characters that are complete; the beginning of another waits. */
  #whole(bytes: Uint8Array): Uint8Array {
    const all = new Uint8Array(this.#begun.length + bytes.length);
    all.set(this.#begun);
    all.set(bytes, this.#begun.length);
    const end = all.length - incompleteTail(all);
    this.#begun = all.subarray(end);
    return all.subarray(0, end);
  }

  /** After what was written before, and before what is written next. */
  #resize(cols: number, rows: number): void {
    void this.#write('', () => {
      if (cols !== this.#emulator.cols || rows !== this.#emulator.rows) this.#emulator.resize(cols, rows);
    });
  }

  #write(data: string | Uint8Array, parsed: () => void = () => {}): Promise<void> {
    return new Promise((resolve) => {
      this.#emulator.write(data, () => {
        if (!this.#isOver) parsed();
        resolve();
      });
    });
  }
}

const fullReset = Uint8Array.of(0x1b, 0x63);

const bytesOf = (base64: string): Uint8Array => Uint8Array.from(atob(base64), (one) => one.charCodeAt(0));

/** How many bytes at the end begin a character in UTF-8 that is not complete. */
function incompleteTail(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}
