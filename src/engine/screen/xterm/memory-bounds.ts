import { bits, cellSize, type Core, type CoreLine } from './core.ts';

/** No title, colour or link is longer. What is longer is read past, and nothing of it is kept. */
const longestText = 64 << 10;
/** Text for the clipboard (OSC 52), as base64. */
const longestClipboard = (1 << 20) + 64;
/** Zalgo has a dozen; a cell with more shows nothing that could be read. */
export const mostMarks = 32;
/** A mark outside the first plane is two units of a string. */
const longestCell = 2 * (mostMarks + 1);
/** So many pieces a string may be made of before it is made one: each costs more than the character in it. */
const mostPieces = 1024;

/** Collects the text of a sequence for its handler (OSC, DCS), a piece at a time. */
interface Collector {
  _data: string;
  _hitLimit: boolean;
  longest?: number;
  pieces?: number;
  put(data: Uint32Array, start: number, end: number): void;
}

interface Parsers {
  readonly _oscParser: { readonly _handlers: Readonly<Record<number, readonly Collector[]>> };
  readonly _dcsParser: { readonly _handlers: Readonly<Record<number, readonly Collector[]>> };
}

type AddMark = (this: CoreLine, index: number, codePoint: number, width: number) => void;
type MarkedLine = CoreLine & { addCodepointToCell: AddMark };

const bounded = new WeakSet<object>();

/**
 * Bounds what output can make the emulator keep: by itself it collects ten million characters of an unfinished sequence, and as
 * many marks over one letter as come. Its classes are changed once, the first time one is seen.
 */
export function boundMemory(core: Core): void {
  const line = core.buffers.normal.lines.get(0);
  if (line) once(Object.getPrototypeOf(line) as MarkedLine, boundMarks);
  const parsers = core._inputHandler._parser as unknown as Parsers;
  for (const { _handlers } of [parsers._oscParser, parsers._dcsParser]) {
    const [collectors = []] = Object.values(_handlers);
    const [first] = collectors;
    if (first) once(Object.getPrototypeOf(first) as Collector, boundCollector);
  }
}

/** After the handler of the clipboard was registered: its text may be longer than others. */
export function allowLongClipboard(core: Core): void {
  const { _oscParser } = core._inputHandler._parser as unknown as Parsers;
  for (const collector of _oscParser._handlers[52] ?? []) collector.longest = longestClipboard;
}

function once<T extends object>(prototype: T, change: (prototype: T) => void): void {
  if (bounded.has(prototype)) return;
  bounded.add(prototype);
  change(prototype);
}

function boundMarks(prototype: MarkedLine): void {
  const add = prototype.addCodepointToCell;
  prototype.addCodepointToCell = function (index, codePoint) {
    const isCombined = ((this._data[index * cellSize] ?? 0) & bits.combined) !== 0;
    if (isCombined && (this._combined[index]?.length ?? 0) >= longestCell) return;
    // Its width stays. The emulator would give it that of the character printed last, also where a wide one found no room at the right
    // edge; the next piece of output would then blank the cell, so that the screen depended on where output is cut.
    add.call(this, index, codePoint, 0);
  };
}

function boundCollector(prototype: Collector): void {
  prototype.put = function (data, start, end) {
    if (this._hitLimit) return;
    if (this._data.length + end - start > (this.longest ?? longestText)) {
      this._data = '';
      this._hitLimit = true;
      return;
    }
    this._data += String.fromCodePoint(...data.subarray(start, end));
    this.pieces = (this.pieces ?? 0) + 1;
    // Looking at one character makes one string of its pieces.
    if (this.pieces % mostPieces === 0) this._data.charCodeAt(0);
  };
}
