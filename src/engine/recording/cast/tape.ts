import type { Size } from '../../terminal/channel.ts';
import type { Redactor } from '../../redaction/redactor.ts';
import type { RedactedPiece, StreamRedactor } from '../../redaction/stream-redactor.ts';
import { incompleteTail } from '../../../lib/utf8.ts';
import { type CastHeader, type CastTime, CastWriter } from './cast-writer.ts';
import { EchoedInput } from './echoed-input.ts';

type Write = (writer: CastWriter, atMs: number) => string;

interface TapeOptions {
  /** The zero of the cast on the clock of the events. */
  readonly startMs: number;
  readonly redactor: Redactor | undefined;
  readonly emit: (line: string) => void;
  /** A tape that another process began has come so far. */
  readonly resumed?: { readonly time: CastTime; readonly redactions: number } | undefined;
}

interface Moment {
  readonly atMs: number;
  /** An event between two pieces of output. */
  readonly write?: Write;
}

/** Redacted output is held until its line ends, or for this long without output. */
const holdMs = 5_000;

/** In a flood, the end of a piece waits for its line to end, and is written with the next: an event for each costs time. */
const togetherMs = 10;
const longPiece = 1_000;

/** What happens in a terminal, turned into lines of a cast: decoded, masked when asked for, in order. */
export class Tape {
  readonly #writer: CastWriter;
  readonly #emit: (line: string) => void;
  readonly #redactor: Redactor | undefined;
  readonly #masked: StreamRedactor<Moment> | undefined;
  readonly #maskedInput: StreamRedactor<Moment> | undefined;
  readonly #output = new TextDecoder('utf-8', { ignoreBOM: true });
  /** Bytes of a character whose rest has not come. */
  #incomplete: Uint8Array = new Uint8Array(0);
  /** Offset in the terminal's log behind the last byte of output. */
  #outputTo: number | undefined;
  readonly #input = new TextDecoder('utf-8', { ignoreBOM: true });
  readonly #unsure = new EchoedInput((text, atMs) => this.#typed(text, atMs));
  #lastMs: number;
  /** Masks in labels, and those of the process before. */
  #labels: number;

  constructor(
    header: Pick<CastHeader, 'format' | 'idleTimeLimit' | 'size'>,
    { startMs, redactor, emit, resumed }: TapeOptions,
  ) {
    this.#writer = new CastWriter(header, startMs, resumed?.time);
    this.#emit = emit;
    this.#labels = resumed?.redactions ?? 0;
    this.#lastMs = startMs;
    this.#redactor = redactor;
    this.#masked = redactor?.stream<Moment>({ cols: header.size.cols, joins });
    this.#maskedInput = redactor?.stream<Moment>();
  }

  get castDurationMs(): number {
    return this.#writer.castDurationMs;
  }

  get time(): CastTime {
    return this.#writer.time;
  }

  /** All output before this offset of the log is in the cast, and nothing behind it; undefined when that cannot be told. */
  get writtenTo(): number | undefined {
    const { held } = this.#writer;
    const waiting = this.#masked === undefined ? held : this.#masked.heldText;
    const isExact = this.#masked === undefined || held === '';
    // A byte that is no text became a replacement character of three bytes.
    if (this.#outputTo === undefined || !isExact || waiting.includes('\ufffd')) return undefined;
    return this.#outputTo - this.#incomplete.length - Buffer.byteLength(waiting);
  }

  get redactions(): number {
    return (this.#masked?.count ?? 0) + (this.#maskedInput?.count ?? 0) + this.#labels;
  }

  /** True while masked output waits for the end of its line. */
  get holding(): boolean {
    return (this.#masked?.held ?? 0) > 0;
  }

  /** `to` is the offset in the terminal's log behind these bytes. */
  output(bytes: Uint8Array, atMs: number, to?: number): void {
    const all = this.#incomplete.length === 0 ? bytes : Buffer.concat([this.#incomplete, bytes]);
    const whole = all.length - incompleteTail(all);
    this.#incomplete = all.slice(whole);
    this.#outputTo = to;
    const characters = all.subarray(0, whole);
    if (this.#masked === undefined) return this.text(this.#output.decode(characters), atMs);
    this.#lastMs = atMs;
    if (characters.length === 0) return;
    // As in `text`, but without decoding what is decoded again when it is masked.
    if (this.#unsure.waits) this.#unsure.output(this.#output.decode(characters));
    this.#release(this.#masked.push(characters, { atMs }));
  }

  /** Output that the cast has already, so that a secret which begins in it is still masked. */
  recall(bytes: Uint8Array): void {
    if (this.#masked === undefined) return;
    const { count } = this.#masked;
    this.#masked.push(this.#output.decode(bytes), { atMs: this.#lastMs });
    this.#masked.flush();
    this.#labels -= this.#masked.count - count;
  }

  text(text: string, atMs: number): void {
    this.#lastMs = atMs;
    if (text === '') return;
    // First: typed input comes before its echo, and only the echo tells whether it may be written.
    this.#unsure.output(text);
    if (this.#masked === undefined) this.#emit(this.#writer.output(text, atMs));
    else this.#release(this.#masked.push(text, { atMs }));
  }

  /** The screen as it is, in one event, also when masked. A secret cut at its end is still masked later. */
  screen(text: string, atMs: number): void {
    if (this.#masked === undefined) return this.text(text, atMs);
    const pieces = [...this.#masked.push(text, { atMs }), ...this.#masked.flush()];
    this.#emit(this.#writer.output(pieces.map((piece) => piece.text).join(''), atMs));
  }

  /** `echo` as the source reports it: input typed without echo is never written. */
  input(bytes: Uint8Array, echo: boolean | undefined, atMs: number): void {
    const text = this.#input.decode(bytes, { stream: true });
    if (echo === true) this.#typed(text, atMs);
    else if (echo === undefined) this.#unsure.input(text, atMs);
  }

  resize(size: Size, atMs: number): void {
    this.#between(atMs, (writer, at) => writer.resize(size, at));
    this.#masked?.resize(size.cols);
  }

  marker(label: string, atMs: number): void {
    const masked = this.label(label);
    this.#between(atMs, (writer, at) => writer.marker(masked, at));
  }

  exit(code: number, atMs: number): void {
    this.#between(atMs, (writer, at) => writer.exit(code, at));
  }

  /** A command or title as it may be written. */
  label(text: string): string {
    if (this.#redactor === undefined) return text;
    const masked = this.#redactor.redactText(text);
    this.#labels += masked.count;
    return masked.text;
  }

  /** Call it regularly: writes a held line that does not end. */
  releaseStale(nowMs: number): void {
    if (this.#masked !== undefined && nowMs - this.#lastMs >= holdMs) this.#release(this.#masked.flush());
  }

  end(atMs: number): void {
    const last = this.#output.decode(this.#incomplete);
    if (last !== '') this.text(last, atMs);
    this.#unsure.end();
    if (this.#maskedInput !== undefined) this.#inputPieces(this.#maskedInput.end());
    if (this.#masked !== undefined) this.#release(this.#masked.end());
    this.#emit(this.#writer.end(atMs));
  }

  #typed(text: string, atMs: number): void {
    if (this.#maskedInput === undefined) return this.#between(atMs, (writer, at) => writer.input(text, at));
    const pieces = this.#maskedInput.push(text, { atMs });
    if (/[\r\n\x03\x04]/.test(text)) pieces.push(...this.#maskedInput.end());
    this.#inputPieces(pieces);
  }

  #inputPieces(pieces: readonly RedactedPiece<Moment>[]): void {
    for (const { text, tag } of pieces) this.#between(tag.atMs, (writer, at) => writer.input(text, at));
  }

  /** Keeps its place among output that is held. */
  #between(atMs: number, write: Write): void {
    if (this.#masked === undefined) this.#emit(write(this.#writer, atMs));
    else this.#release(this.#masked.push('', { atMs, write }));
  }

  #release(pieces: readonly RedactedPiece<Moment>[]): void {
    for (const { text, tag } of pieces) {
      this.#emit(tag.write?.(this.#writer, tag.atMs) ?? this.#writer.output(text, tag.atMs));
    }
  }
}

function joins(held: Moment, next: Moment, bytes: number): boolean {
  return held.write === undefined && next.atMs - held.atMs < togetherMs && bytes > longPiece;
}
