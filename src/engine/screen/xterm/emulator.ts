import { incompleteTail, isContinuation, sequenceLength } from '../../../lib/utf8.ts';
import type { Size } from '../../terminal/channel.ts';
import { boundSequences } from './bounds.ts';
import { type Core, type CoreBuffer, createCore, parseBytes, parseLimit } from './core.ts';
import { allowLongClipboard, boundMemory } from './memory-bounds.ts';
import { answerQueries } from './replies.ts';
import type { ScreenColors } from '../theme.ts';

export type ScreenEvent =
  | { readonly type: 'bell' }
  | { readonly type: 'title'; readonly title: string }
  | { readonly type: 'clipboard'; readonly text: string };

/** Effects of parsing, handed on afterwards: a listener may feed this screen again. */
interface Happened {
  readonly reply: string;
  readonly events: readonly ScreenEvent[];
}

// A file full of queries, printed, must not become megabytes of input.
const largestReply = 64 << 10;
const mostEvents = 256;
/** So much of a sequence that has not ended tells which one it is. */
const mostPending = 64 << 10;

/** One for all: most screens carry nothing, asleep or awake. */
const nothing: Uint8Array = new Uint8Array(0);

/** One live xterm, fed with bytes cut anywhere. */
export class Emulator {
  readonly core: Core;
  readonly scrollback: number;
  /** Rows of the normal screen dropped so far: the absolute number of the first one kept. */
  trimmed = 0;
  /** Bumped when row numbers stop meaning what they meant. */
  epoch = 0;
  /** The beginning of a code point whose rest has not arrived. */
  carry = nothing;
  /** The beginning of an escape sequence whose rest has not arrived. */
  #begun = nothing;
  #reply = '';
  #events: ScreenEvent[] = [];
  #normal: CoreBuffer;

  constructor(size: Size, scrollback: number, theme: ScreenColors) {
    this.scrollback = scrollback;
    this.core = createCore(size, scrollback);
    this.#normal = this.#countTrimmed();
    this.core.buffers.onBufferActivate(() => {
      // A full reset makes new buffers; rows go on counting after the old ones.
      if (this.core.buffers.normal === this.#normal) return;
      this.trimmed += this.#normal.ybase + this.core.rows;
      this.epoch++;
      this.#normal = this.#countTrimmed();
    });
    const reply = (text: string): void => {
      if (this.#reply.length + text.length <= largestReply) this.#reply += text;
    };
    this.core.onData(reply);
    this.core.onBell(() => this.#happened({ type: 'bell' }));
    this.core.onTitleChange((title) => this.#happened({ type: 'title', title }));
    // Links are dropped: they are not used, and each would follow every row that scrolls away.
    this.core.registerOscHandler(8, () => true);
    boundMemory(this.core);
    boundSequences(this.core);
    // Where a program clears the screen or what is above it, rows found before are other rows from here on.
    this.core.registerCsiHandler({ final: 'J' }, ({ params }) => {
      const what = params[0] ?? 0;
      if ((what === 2 || what === 3) && this.core.buffers.active === this.core.buffers.normal) this.epoch++;
      return false;
    });
    answerQueries(this.core, theme, { reply, clipboard: (text) => this.#happened({ type: 'clipboard', text }) });
    allowLongClipboard(this.core);
  }

  resize(cols: number, rows: number): void {
    this.core.resize(cols, rows);
    // xterm keeps the old height of an alternate screen that is not in use: once it is, rows below the last would be printed on.
    const { lines } = this.core.buffers.alt;
    if (lines.length === 0) lines.maxLength = rows;
  }

  /** True between escape sequences, when every byte so far has had its full effect. */
  get atRest(): boolean {
    return this.core._inputHandler._parser.currentState === 0 && this.carry.length === 0;
  }

  /** What has come of a sequence or a code point that is not complete: it shows nowhere yet. */
  get pending(): Uint8Array {
    return this.core._inputHandler._parser.currentState === 0 ? this.carry : this.#begun;
  }

  feed(bytes: Uint8Array): void {
    const before = this.pending;
    this.#parse(bytes);
    if (this.core._inputHandler._parser.currentState === 0) this.#begun = nothing;
    else this.#begun = begunIn(before, bytes);
  }

  #parse(bytes: Uint8Array): void {
    let at = this.carry.length === 0 ? 0 : this.#completeCarry(bytes);
    while (at < bytes.length) {
      let end = Math.min(at + parseLimit, bytes.length);
      const tail = incompleteTail(bytes, end);
      if (end === bytes.length) {
        if (tail > 0) this.carry = bytes.slice(end - tail);
        if (end - tail > at) parseBytes(this.core, bytes.subarray(at, end - tail));
        return;
      }
      end -= tail;
      parseBytes(this.core, bytes.subarray(at, end));
      at = end;
    }
  }

  /** Takes what belongs to the code point begun before, and says how many bytes that was. */
  #completeCarry(bytes: Uint8Array): number {
    const carry = this.carry;
    const missing = sequenceLength(carry[0] as number) - carry.length;
    let found = 0;
    while (found < missing && found < bytes.length && isContinuation(bytes[found] as number)) found++;
    const joined = new Uint8Array(carry.length + found);
    joined.set(carry);
    joined.set(bytes.subarray(0, found), carry.length);
    const waiting = found < missing && found === bytes.length;
    this.carry = waiting ? joined : nothing;
    // A code point broken off by other bytes is dropped, as it would be within one chunk.
    if (found === missing) parseBytes(this.core, joined);
    return found;
  }

  take(): Happened {
    const happened = { reply: this.#reply, events: this.#events };
    this.#reply = '';
    if (this.#events.length > 0) this.#events = [];
    return happened;
  }

  dispose(): void {
    this.core.dispose();
  }

  #happened(event: ScreenEvent): void {
    if (this.#events.length < mostEvents) this.#events.push(event);
  }

  #countTrimmed(): CoreBuffer {
    const { normal } = this.core.buffers;
    normal.lines.onTrim((count) => {
      this.trimmed += count;
    });
    return normal;
  }
}

/** From the last byte that begins a sequence on; all of it, when that came `before`. */
function begunIn(before: Uint8Array, bytes: Uint8Array): Uint8Array {
  let from = bytes.lastIndexOf(0x1b);
  // The same in one character, U+0090 to U+009F.
  for (let at = bytes.length; (at = bytes.lastIndexOf(0xc2, at - 1)) > from; ) {
    if (at + 1 < bytes.length && isIntroducer(bytes[at + 1] as number)) from = at;
    if (at === 0) break;
  }
  if (from >= 0) return bytes.slice(from, from + mostPending);
  if (before.length >= mostPending) return before;
  return Buffer.concat([before, bytes.subarray(0, mostPending - before.length)]);
}

const isIntroducer = (byte: number): boolean => [0x90, 0x98, 0x9b, 0x9d, 0x9e, 0x9f].includes(byte);
