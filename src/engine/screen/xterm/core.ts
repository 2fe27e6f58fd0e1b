/**
 * The one place that reaches into @xterm/headless beyond its public interface (version 6.0.0, pinned; core.test.ts fails
 * when the package changes). We need three things it does not offer: parsing synchronously, the exact state of a screen
 * for hibernation, and skipping text that can only scroll away.
 */
import { createRequire } from 'node:module';
import type { Size } from '../../terminal/channel.ts';

interface Listening {
  dispose(): void;
}
type Listen<T> = (listener: (value: T) => void) => Listening;

export interface CoreExtended {
  _ext: number;
  _urlId: number;
  clone(): CoreExtended;
}

/** A pen: what the next character will look like. */
export interface CoreAttributes {
  fg: number;
  bg: number;
  extended: CoreExtended;
  clone(): CoreAttributes;
}

export interface CoreLine {
  isWrapped: boolean;
  length: number;
  /** Three numbers a cell: content, foreground, background; their bits are named in `bits`. */
  _data: Uint32Array;
  _combined: Record<number, string>;
  _extendedAttrs: Record<number, CoreExtended | undefined>;
  clone(): CoreLine;
  resize(cols: number, fill: unknown): boolean;
}

interface CoreLines {
  length: number;
  maxLength: number;
  get(index: number): CoreLine | undefined;
  push(line: CoreLine): void;
  trimStart(count: number): void;
  onTrim: Listen<number>;
}

export interface CoreBuffer {
  lines: CoreLines;
  /** Index of the viewport's first row. */
  ybase: number;
  ydisp: number;
  x: number;
  y: number;
  scrollTop: number;
  scrollBottom: number;
  tabs: Record<number, boolean | undefined>;
  savedX: number;
  savedY: number;
  savedCurAttrData: CoreAttributes;
  savedCharset: unknown;
  getBlankLine(attributes: CoreAttributes, wrapped?: boolean): CoreLine;
  getNullCell(): unknown;
  /** It moves with its row, and its line is -1 when that is gone. */
  addMarker(row: number): { readonly line: number; dispose(): void };
}

interface CoreParser {
  /** 0 when no escape sequence is under way. */
  currentState: number;
  precedingJoinState: number;
}

/** The numbers of a sequence. */
export interface CoreParams {
  params: { readonly length: number; [index: number]: number };
  length: number;
}

interface Identifier {
  prefix?: string;
  final: string;
}

export interface Core {
  readonly cols: number;
  readonly rows: number;
  /** Two modes live among the options: `CSI ? 12 h`, and `CSI 20 h`, after which a line feed also returns. */
  options: { cursorBlink: boolean; convertEol: boolean };
  buffers: {
    normal: CoreBuffer;
    alt: CoreBuffer;
    active: CoreBuffer;
    onBufferActivate: Listen<unknown>;
    activateAltBuffer(): void;
  };
  coreService: {
    modes: { insertMode: boolean };
    decPrivateModes: {
      applicationCursorKeys: boolean;
      applicationKeypad: boolean;
      bracketedPasteMode: boolean;
      cursorBlink: boolean | undefined;
      cursorStyle: 'block' | 'underline' | 'bar' | undefined;
      origin: boolean;
      reverseWraparound: boolean;
      sendFocus: boolean;
      synchronizedOutput: boolean;
      wraparound: boolean;
    };
    isCursorHidden: boolean;
    isCursorInitialized: boolean;
  };
  coreMouseService: { activeProtocol: string; activeEncoding: string };
  unicodeService: { activeVersion: string; register(provider: unknown): void; wcwidth(codePoint: number): 0 | 1 | 2 };
  _charsetService: { charset: unknown; glevel: number; _charsets: unknown[] };
  _inputHandler: {
    _parser: CoreParser;
    _parseBuffer: Uint32Array;
    _curAttrData: CoreAttributes;
    _windowTitle: string;
    _iconName: string;
    _windowTitleStack: string[];
    _iconNameStack: string[];
    parse(data: Uint8Array | string): unknown;
    eraseInDisplay(params: CoreParams, onlyUnprotected: boolean): boolean;
  };
  onData: Listen<string>;
  onBell: Listen<void>;
  onTitleChange: Listen<string>;
  registerCsiHandler(
    id: Identifier,
    /** The numbers may be changed: the emulator's own handler gets them next when this one returns false. */
    run: (params: CoreParams) => boolean,
  ): Listening;
  registerEscHandler(id: Identifier, run: () => boolean): Listening;
  registerOscHandler(id: number, run: (data: string) => boolean): Listening;
  resize(cols: number, rows: number): void;
  dispose(): void;
}

/** Bits of a cell's three numbers. */
export const bits = {
  codePoint: 0x1fffff,
  combined: 0x200000,
  hasContent: 0x3fffff,
  widthShift: 22,
  colorMode: 0x3000000,
  rgbMode: 0x3000000,
  rgb: 0xffffff,
  fg: {
    inverse: 0x4000000,
    bold: 0x8000000,
    underline: 0x10000000,
    blink: 0x20000000,
    invisible: 0x40000000,
    strike: 0x80000000,
  },
  bg: { italic: 0x4000000, dim: 0x8000000, extended: 0x10000000, overline: 0x40000000 },
  extended: { color: 0x3ffffff, underlineShift: 26, underline: 7 },
} as const;

export const cellSize = 3;
/** Content of a cell nothing was written to: no character, width 1. */
export const blankContent = 1 << bits.widthShift;

type CoreClass = new (options: object) => Core;
interface Loaded {
  readonly CoreTerminal: CoreClass;
  readonly unicode11: unknown;
}

let loaded: Loaded | undefined;

/** The package is loaded when the first terminal prints something: a server that only starts up does not pay for it. */
function load(): Loaded {
  if (loaded) return loaded;
  const require = createRequire(import.meta.url);
  const { Terminal } = require('@xterm/headless') as {
    Terminal: new (options: object) => { _core: Core & { constructor: CoreClass } };
  };
  const { Unicode11Addon } = require('@xterm/addon-unicode11') as {
    Unicode11Addon: new () => { activate(terminal: object): void };
  };
  // The public class only wraps this one in about a hundred accessors per terminal.
  const CoreTerminal = new Terminal({ cols: 2, rows: 1, scrollback: 0 })._core.constructor;
  let unicode11: unknown;
  new Unicode11Addon().activate({ unicode: { register: (provider: unknown) => (unicode11 = provider) } });
  loaded = { CoreTerminal, unicode11 };
  return loaded;
}

/** Most bytes parsed in one call. */
export const parseLimit = 16 << 10;
// Parsing is synchronous and never nests (events are handed on after it), so one buffer serves every screen.
const parseBuffer = new Uint32Array(parseLimit);

export function createCore(size: Size, scrollback: number): Core {
  const { CoreTerminal, unicode11 } = load();
  const core = new CoreTerminal({
    ...size,
    scrollback,
    logLevel: 'off',
    windowOptions: {
      getWinSizePixels: true,
      getCellSizePixels: true,
      getWinSizeChars: true,
      pushTitle: true,
      popTitle: true,
    },
  });
  core.unicodeService.register(unicode11);
  core.unicodeService.activeVersion = '11';
  core._inputHandler._parseBuffer = parseBuffer;
  return core;
}

/** At most `parseLimit` bytes, ending at a code-point border: the emulator loses code points it gets in parts. */
export function parseBytes(core: Core, bytes: Uint8Array): void {
  core._inputHandler.parse(bytes);
}

/** How many columns a code point takes, exactly as the emulator counts. */
export function widthOf(core: Core, codePoint: number): 0 | 1 | 2 {
  return core.unicodeService.wcwidth(codePoint);
}
