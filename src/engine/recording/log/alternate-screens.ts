/** Output without what full-screen programs drew; in its place stands how long each of them ran. */
const switches = /\x1b\[\?(?:\d+;)*(?:47|1047|1049)(?:;\d+)*([hl])/g;
const csi = Buffer.from('\x1b[?');
const escape = 0x1b;
/** A longer one is no switch. */
const longestSwitch = 32;
/** The beginning of a switch that may be one. */
const begun = /\x1b(?:\[(?:\?[\d;]*)?)?$/;

export class AlternateScreens {
  readonly #feed: (bytes: Uint8Array) => void;
  /** When the program that has the screen took it. */
  #since: number | undefined;
  #held: Buffer = Buffer.alloc(0);
  #atLineStart = true;

  constructor(feed: (bytes: Uint8Array) => void) {
    this.#feed = feed;
  }

  output(bytes: Buffer, micros: number): void {
    let all = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes]);
    const tail = begunLength(all);
    this.#held = all.subarray(all.length - tail);
    all = all.subarray(0, all.length - tail);
    if (!all.includes(csi)) return this.#show(all);
    let from = 0;
    for (const { 0: text, 1: which, index } of all.toString('latin1').matchAll(switches)) {
      this.#show(all.subarray(from, index));
      from = index + text.length;
      if (which === 'h') this.enter(micros);
      else this.#leave(micros);
    }
    this.#show(all.subarray(from));
  }

  enter(micros: number): void {
    this.#since ??= micros;
  }

  end(micros: number): void {
    this.#show(this.#held);
    this.#held = Buffer.alloc(0);
    this.#leave(micros);
  }

  #leave(micros: number): void {
    if (this.#since === undefined) return;
    const seconds = Math.max(0, (micros - this.#since) / 1e6).toFixed(1);
    this.#since = undefined;
    this.#show(Buffer.from(`${this.#atLineStart ? '' : '\r\n'}[full-screen program, ${seconds} s]\r\n`));
  }

  #show(bytes: Buffer): void {
    if (bytes.length === 0 || this.#since !== undefined) return;
    this.#feed(bytes);
    const last = bytes.at(-1);
    this.#atLineStart = last === 0x0a || last === 0x0d;
  }
}

function begunLength(bytes: Buffer): number {
  const from = bytes.lastIndexOf(escape);
  if (from < 0 || bytes.length - from > longestSwitch) return 0;
  return begun.test(bytes.toString('latin1', from)) ? bytes.length - from : 0;
}
