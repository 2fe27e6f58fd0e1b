import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Size } from '../../terminal/channel.ts';
import type { Core, CoreBuffer } from './core.ts';
import { Emulator } from './emulator.ts';
import { packLines, unpackLines } from './packed-lines.ts';
import type { ScreenColors } from '../theme.ts';

/** Tab stops as a list: the emulator's table of them takes more memory than everything else here. */
type Kept = Omit<CoreBuffer, 'lines' | 'getBlankLine' | 'getNullCell' | 'addMarker' | 'tabs'> & {
  readonly stops: readonly number[];
};

/** A sleeping emulator: its lines deflated, and of the rest what differs from one terminal to another. */
export interface Image {
  readonly size: Size;
  readonly scrollback: number;
  readonly trimmed: number;
  readonly epoch: number;
  readonly carry: Uint8Array;
  readonly normal: { readonly kept: Kept; readonly lines: Uint8Array };
  readonly alt: { readonly kept: Kept; readonly lines: Uint8Array | undefined };
  readonly state: CoreState;
}

interface CoreState {
  readonly service: Core['coreService'];
  readonly mouse: Core['coreMouseService'];
  readonly charsets: Core['_charsetService'];
  readonly handler: Omit<Core['_inputHandler'], '_parser' | '_parseBuffer' | 'parse' | 'eraseInDisplay'>;
  readonly precedingJoinState: number;
  readonly cursorBlink: boolean;
  readonly convertEol: boolean;
}

/** Only for an emulator that is not within an escape sequence, and will not be used again. */
export function capture({ core, scrollback, trimmed, epoch, carry }: Emulator): Image {
  const { normal, alt, active } = core.buffers;
  return {
    size: { cols: core.cols, rows: core.rows },
    scrollback,
    trimmed,
    epoch,
    carry,
    normal: { kept: kept(normal), lines: deflated(normal, core.cols) },
    alt: { kept: kept(alt), lines: active === alt ? deflated(alt, core.cols) : undefined },
    state: stateOf(core),
  };
}

/** An emulator no observer can tell from the one the image was taken of. */
export function restoreEmulator(image: Image, theme: ScreenColors): Emulator {
  const emulator = new Emulator(image.size, image.scrollback, theme);
  const { core } = emulator;
  const { normal, alt } = core.buffers;
  const pen = core._inputHandler._curAttrData;
  const blank = normal.getBlankLine(pen);
  unpackLines(inflateRawSync(image.normal.lines), normal, blank, pen.extended);
  putBack(normal, image.normal.kept);
  if (image.alt.lines) {
    core.buffers.activateAltBuffer();
    unpackLines(inflateRawSync(image.alt.lines), alt, blank, pen.extended);
  }
  putBack(alt, image.alt.kept);
  const { service, mouse, charsets, handler, precedingJoinState, cursorBlink, convertEol } = image.state;
  Object.assign(core.coreService, service);
  Object.assign(core.coreMouseService, mouse);
  Object.assign(core._charsetService, charsets);
  Object.assign(core._inputHandler, handler);
  core._inputHandler._parser.precedingJoinState = precedingJoinState;
  if (cursorBlink) core.options.cursorBlink = true;
  if (convertEol) core.options.convertEol = true;
  emulator.trimmed = image.trimmed;
  emulator.epoch = image.epoch;
  emulator.carry = image.carry;
  emulator.take();
  return emulator;
}

/** Bytes an image takes, for those who count. */
export function imageBytes({ normal, alt }: Image): number {
  return normal.lines.length + (alt.lines?.length ?? 0);
}

/** Screens sleep seldom and long: smaller is worth a few milliseconds. */
const level = 6;

function deflated(buffer: CoreBuffer, cols: number): Uint8Array {
  // A copy of exact size: zlib returns a view into a larger allocation.
  return new Uint8Array(deflateRawSync(packLines(buffer, cols), { level }));
}

function kept(buffer: CoreBuffer): Kept {
  const { ybase, ydisp, x, y, scrollTop, scrollBottom, tabs, savedX, savedY, savedCurAttrData, savedCharset } = buffer;
  const stops = Object.keys(tabs)
    .map(Number)
    .filter((column) => tabs[column]);
  return { ybase, ydisp, x, y, scrollTop, scrollBottom, stops, savedX, savedY, savedCurAttrData, savedCharset };
}

function putBack(buffer: CoreBuffer, { stops, ...rest }: Kept): void {
  Object.assign(buffer, rest, { tabs: Object.fromEntries(stops.map((column) => [column, true])) });
}

function stateOf(core: Core): CoreState {
  const { modes, decPrivateModes, isCursorHidden, isCursorInitialized } = core.coreService;
  const { activeProtocol, activeEncoding } = core.coreMouseService;
  const { charset, glevel, _charsets } = core._charsetService;
  const { _curAttrData, _windowTitle, _iconName, _windowTitleStack, _iconNameStack, _parser } = core._inputHandler;
  return {
    service: { modes, decPrivateModes, isCursorHidden, isCursorInitialized },
    mouse: { activeProtocol, activeEncoding },
    charsets: { charset, glevel, _charsets },
    handler: { _curAttrData, _windowTitle, _iconName, _windowTitleStack, _iconNameStack },
    precedingJoinState: _parser.precedingJoinState,
    cursorBlink: core.options.cursorBlink,
    convertEol: core.options.convertEol,
  };
}
