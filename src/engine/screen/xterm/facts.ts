import type { Core } from './core.ts';
import type { Emulator } from './emulator.ts';
import type { Cursor } from '../grid.ts';

/** What a program asked of its terminal. */
export interface Modes {
  readonly applicationCursor: boolean;
  readonly applicationKeypad: boolean;
  readonly bracketedPaste: boolean;
  readonly focusReports: boolean;
  readonly mouse: 'none' | 'x10' | 'vt200' | 'drag' | 'any';
  readonly mouseEncoding: 'default' | 'sgr' | 'sgr_pixels';
  readonly synchronized: boolean;
  readonly insert: boolean;
  readonly origin: boolean;
  readonly autowrap: boolean;
  readonly reverseWrap: boolean;
  /** Undefined until the program chose one. */
  readonly cursorBlink: boolean | undefined;
}

/** Small things about a screen that are known without its rows, so they can be asked while it sleeps. */
export interface Facts {
  readonly title: string;
  readonly cursor: Cursor;
  readonly alternate: boolean;
  readonly modes: Modes;
  /** Rows above the viewport. None on the alternate screen. */
  readonly scrollbackRows: number;
  /** Absolute number of the first retained row; rows are counted from the terminal's start. */
  readonly baseRow: number;
  readonly viewportTop: number;
  /** Row numbers are comparable within one epoch: a reflow and a clear begin another. */
  readonly epoch: number;
}

export const blankFacts: Facts = {
  title: '',
  cursor: { x: 0, y: 0, visible: true, shape: 'block' },
  alternate: false,
  modes: {
    applicationCursor: false,
    applicationKeypad: false,
    bracketedPaste: false,
    focusReports: false,
    mouse: 'none',
    mouseEncoding: 'default',
    synchronized: false,
    insert: false,
    origin: false,
    autowrap: true,
    reverseWrap: false,
    cursorBlink: undefined,
  },
  scrollbackRows: 0,
  baseRow: 0,
  viewportTop: 0,
  epoch: 0,
};

export function factsOf({ core, trimmed, epoch }: Emulator): Facts {
  const { normal, active } = core.buffers;
  const { coreService, cols } = core;
  const alternate = active !== normal;
  const viewportTop = trimmed + normal.ybase;
  return {
    title: core._inputHandler._windowTitle,
    // Past the last column the cursor only waits to wrap; it is shown on the last one.
    cursor: {
      x: Math.min(active.x, cols - 1),
      y: active.y,
      visible: !coreService.isCursorHidden,
      shape: coreService.decPrivateModes.cursorStyle ?? 'block',
    },
    alternate,
    modes: modesOf(core),
    scrollbackRows: alternate ? 0 : normal.ybase,
    baseRow: alternate ? viewportTop : trimmed,
    viewportTop,
    epoch,
  };
}

export function modesOf({ coreService, coreMouseService }: Core): Modes {
  const dec = coreService.decPrivateModes;
  return {
    applicationCursor: dec.applicationCursorKeys,
    applicationKeypad: dec.applicationKeypad,
    bracketedPaste: dec.bracketedPasteMode,
    focusReports: dec.sendFocus,
    mouse: coreMouseService.activeProtocol.toLowerCase() as Modes['mouse'],
    mouseEncoding: coreMouseService.activeEncoding.toLowerCase() as Modes['mouseEncoding'],
    synchronized: dec.synchronizedOutput,
    insert: coreService.modes.insertMode,
    origin: dec.origin,
    autowrap: dec.wraparound,
    reverseWrap: dec.reverseWraparound,
    cursorBlink: dec.cursorBlink,
  };
}
