import { OutputLog } from '../../../engine/terminal/output-log.ts';
import { Emitter } from '../../../lib/emitter.ts';
import type { OutputPart, StreamName } from '../link/link.ts';

interface OutputRead {
  /** Offset of the first byte returned, counted over both streams. */
  readonly from: number;
  /** Offset after the last byte returned. */
  readonly to: number;
  readonly parts: readonly OutputPart[];
  /** How many of the bytes asked for are no longer there. */
  readonly missed: number;
}

/** A stretch of one stream between two stretches of the other. */
interface Run {
  readonly stream: StreamName;
  /** Offset after its last byte, counted over both streams. */
  end: number;
  /** Its first byte, and after its last, counted in its own stream. */
  readonly streamStart: number;
  streamEnd: number;
}

/** More changes between the streams than this are forgotten, the oldest first, and with them their place in the order. */
const maxRuns = 65_536;

/**
 * What a command wrote: the newest bytes of each stream, and the order in which they came. The bytes are kept once: the
 * combined log is a list of stretches of the two rings. It begins where nothing after has been dropped from either.
 */
export class CommandOutput {
  readonly stdout: OutputLog;
  readonly stderr: OutputLog;
  /** The new end, after each append. */
  readonly onAppend = new Emitter<number>();
  #runs: Run[] = [];
  /** Runs before this one are gone. */
  #head = 0;
  #start = 0;
  #end = 0;
  #appends = 0;

  /** `capacity` is for each stream. */
  constructor(capacity: number) {
    this.stdout = new OutputLog({ capacity });
    this.stderr = new OutputLog({ capacity });
  }

  /** Offset of the oldest byte of the combined log. */
  get start(): number {
    return this.#start;
  }

  /** Bytes of both streams so far, and so the offset of the next one. */
  get end(): number {
    return this.#end;
  }

  /** How many chunks came so far. */
  get appends(): number {
    return this.#appends;
  }

  /** Bytes of memory held for output. */
  get allocated(): number {
    return this.stdout.allocated + this.stderr.allocated;
  }

  append(stream: StreamName, bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    const log = this[stream];
    this.#appends += 1;
    log.append(bytes);
    this.#end += bytes.length;
    const last = this.#runs.at(-1);
    if (last?.stream === stream) {
      last.end = this.#end;
      last.streamEnd = log.end;
    } else this.#runs.push({ stream, end: this.#end, streamStart: log.end - bytes.length, streamEnd: log.end });
    this.#forget(stream);
    this.onAppend.emit(this.#end);
  }

  /** From `from` on, as much as is there, at most `max` bytes. */
  read(from: number, max: number = Number.POSITIVE_INFINITY): OutputRead {
    const first = Math.min(Math.max(from, this.#start), this.#end);
    const last = Math.min(this.#end, first + max);
    const parts: OutputPart[] = [];
    let at = first;
    for (let index = this.#find(first); at < last; index += 1) {
      const { stream, end, streamEnd } = this.#runs[index] as Run;
      const to = Math.min(end, last);
      const { bytes } = this[stream].read(streamEnd - (end - at), streamEnd - (end - to));
      parts.push({ stream, bytes });
      at = to;
    }
    return { from: first, to: last, parts, missed: Math.max(0, first - from) };
  }

  /** No more will come: gives back memory that holds nothing. */
  shrink(): void {
    this.stdout.shrink();
    this.stderr.shrink();
    this.#runs = this.#runs.slice(this.#head);
    this.#head = 0;
  }

  /** The first run that reaches past an offset. */
  #find(offset: number): number {
    let low = this.#head;
    let high = this.#runs.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#runs[middle] as Run).end > offset) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  #forget(stream: StreamName): void {
    const { start } = this[stream];
    let index = this.#head;
    while (start > 0 && this.#isBefore(this.#runs[index], stream, start)) index += 1;
    const oldest = this.#runs[index];
    // All before the oldest byte kept of this stream goes, what the other stream said before it too.
    if (start > 0 && oldest !== undefined && oldest.streamStart <= start) {
      this.#head = index;
      this.#start = oldest.end - (oldest.streamEnd - start);
    }
    while (this.#runs.length - this.#head > maxRuns) this.#start = (this.#runs[this.#head++] as Run).end;
    if (this.#head > 1024 && this.#head > this.#runs.length / 2) {
      this.#runs = this.#runs.slice(this.#head);
      this.#head = 0;
    }
  }

  #isBefore(run: Run | undefined, stream: StreamName, start: number): boolean {
    return run !== undefined && (run.stream !== stream || run.streamEnd <= start);
  }
}
