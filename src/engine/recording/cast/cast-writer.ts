import type { Size } from '../../terminal/channel.ts';
import { escapeEnd } from '../../redaction/escape-sequence.ts';

export type CastFormat = 'v2' | 'v3';

export interface CastHeader {
  readonly format: CastFormat;
  readonly size: Size;
  /** Milliseconds since the epoch. */
  readonly startTime: number;
  readonly shell: string;
  readonly term: string;
  readonly title?: string | undefined;
  /** Seconds; 0 keeps real time. */
  readonly idleTimeLimit: number;
}

/** How far a cast has come, in whole microseconds. */
export interface CastTime {
  /** Of the cast, after idle cutting. */
  readonly cast: number;
  /** Since the start of the recording. */
  readonly real: number;
}

/** A control sequence longer than this may be broken across events rather than held. */
const longestHeld = 65_536;

/**
 * Events in, lines of an asciicast out. Knows no clock: every event comes with its time. Text must be whole code
 * points; a control sequence that is not complete waits for its end.
 */
export class CastWriter {
  readonly #v3: boolean;
  readonly #limitMicros: number;
  #held = '';
  readonly #startMs: number;
  /** Real time of the last event since the start. Whole microseconds, so that sums stay exact. */
  #lastMicros = 0;
  /** Its time in the cast. */
  #castMicros = 0;
  #lastWritten = 0;

  /** `startMs` is the zero of the cast on the clock of the events; a cast that goes on has come as far as `reached`. */
  constructor(header: Pick<CastHeader, 'format' | 'idleTimeLimit'>, startMs: number, reached?: CastTime) {
    this.#v3 = header.format === 'v3';
    this.#limitMicros = header.idleTimeLimit > 0 ? Math.round(header.idleTimeLimit * 1e6) : Number.POSITIVE_INFINITY;
    this.#startMs = startMs;
    this.#lastMicros = reached?.real ?? 0;
    this.#castMicros = this.#lastWritten = reached?.cast ?? 0;
  }

  /** Of the last event. */
  get time(): CastTime {
    return { cast: this.#castMicros, real: this.#lastMicros };
  }

  get castDurationMs(): number {
    return Math.round(this.#castMicros / 1000);
  }

  /** Text held until its control sequence ends. */
  get held(): string {
    return this.#held;
  }

  /** A line, or '' when everything is held. */
  output(text: string, atMs: number): string {
    const all = this.#held + text;
    const cut = completeLength(all);
    const whole = all.length - cut > longestHeld ? all.length : cut;
    this.#held = all.slice(whole);
    return whole === 0 ? '' : this.#event('o', withoutNonce(all.slice(0, whole)), atMs);
  }

  input(text: string, atMs: number): string {
    return text === '' ? '' : this.#event('i', text, atMs);
  }

  resize(size: Size, atMs: number): string {
    return this.end(atMs) + this.#event('r', `${size.cols}x${size.rows}`, atMs);
  }

  marker(label: string, atMs: number): string {
    return this.#event('m', label, atMs);
  }

  /** The exit status of the session: only v3 has an event for it. */
  exit(code: number, atMs: number): string {
    return this.#v3 ? this.end(atMs) + this.#event('x', String(code), atMs) : '';
  }

  /** What is held, as it is. */
  end(atMs: number): string {
    const text = this.#held;
    this.#held = '';
    return text === '' ? '' : this.#event('o', withoutNonce(text), atMs);
  }

  #event(code: string, data: string, atMs: number): string {
    const now = Math.max(this.#lastMicros, Math.round((atMs - this.#startMs) * 1000));
    this.#castMicros += Math.min(now - this.#lastMicros, this.#limitMicros);
    this.#lastMicros = now;
    const micros = this.#v3 ? this.#castMicros - this.#lastWritten : this.#castMicros;
    this.#lastWritten = this.#castMicros;
    return line([micros / 1e6, code, data]);
  }
}

export function headerLine(header: CastHeader): string {
  const { cols, rows } = header.size;
  const timestamp = Math.floor(header.startTime / 1000);
  const extras = {
    ...(header.title === undefined ? {} : { title: header.title }),
    ...(header.idleTimeLimit > 0 ? { idle_time_limit: header.idleTimeLimit } : {}),
  };
  const { shell: SHELL, term: TERM } = header;
  if (header.format === 'v3') {
    return line({ version: 3, term: { cols, rows, type: TERM }, timestamp, env: { SHELL }, ...extras });
  }
  return line({ version: 2, width: cols, height: rows, timestamp, env: { SHELL, TERM }, ...extras });
}

/** Our shell marks carry the terminal's nonce, which readers of the file must not learn. */
function withoutNonce(text: string): string {
  return text.includes(';fl=') ? text.replace(/(\x1b\][16]33;[^\x07\x1b]*?);fl=[0-9a-f]+/g, '$1') : text;
}

/** Some readers take these for line ends. */
const lineEnds = /[\u0085\u2028\u2029]/g;

function line(value: unknown): string {
  const json = JSON.stringify(value);
  return `${json.replace(lineEnds, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)}\n`;
}

/** Length of the part that does not end inside a control sequence. */
function completeLength(text: string): number {
  let at = text.indexOf('\x1b');
  while (at >= 0) {
    const end = escapeEnd(text, at);
    if (end < 0) return at;
    at = text.indexOf('\x1b', Math.max(end, at + 1));
  }
  return text.length;
}
