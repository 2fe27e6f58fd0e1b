import type { Core } from '../xterm/core.ts';
import type { Emulator } from '../xterm/emulator.ts';
import { PlainScan, widthsOf } from './plain-scan.ts';

/** Fewer bytes are not worth skipping. */
const worthSkipping = 4 << 10;
const rowStart = Uint8Array.of(0x0d);

/** Begins to follow what is printed next, the first byte of which has the offset `at`; nothing when that is not possible now. */
export function followFrom(emulator: Emulator, at: number): PlainScan | undefined {
  const { core, scrollback } = emulator;
  if (!emulator.atRest || !isOrdinary(core)) return undefined;
  const { cols, rows, buffers } = core;
  // What is not skipped has to push out every retained row, counted from wherever on the screen the cursor stands now.
  return new PlainScan({ at, cols, x: buffers.active.x, spare: scrollback + 2 * rows, widths: widthsOf(core) });
}

/**
 * Brings what was followed onto the screen: `bytes` are those between the scan's `from` and `end`. False, and nothing is done, when
 * there is too little to skip. The screen must be as it was when the scan began.
 */
export function fastForward(emulator: Emulator, scan: PlainScan, bytes: Uint8Array): boolean {
  const { from } = scan;
  if (scan.rows === 0 && scan.skippable < worthSkipping) return false;
  scan.skip(bytes);
  emulator.feed(scan.pen);
  emulator.feed(rowStart);
  emulator.trimmed += scan.rows;
  emulator.feed(bytes.subarray(scan.from - from));
  return true;
}

/** Feeds all of `bytes`, but what only scrolls away. */
export function feedForward(emulator: Emulator, bytes: Uint8Array): void {
  const scan = followFrom(emulator, 0);
  scan?.follow(bytes);
  const isDone = scan !== undefined && fastForward(emulator, scan, bytes.subarray(0, scan.end));
  emulator.feed(isDone ? bytes.subarray(scan.end) : bytes);
}

/** Nothing is set that would make plain text do more than print and scroll. */
export function isOrdinary({ buffers, coreService, options, rows, cols, _charsetService }: Core): boolean {
  const { active, normal } = buffers;
  const { origin, wraparound, reverseWraparound } = coreService.decPrivateModes;
  return (
    active === normal &&
    active.scrollTop === 0 &&
    active.scrollBottom === rows - 1 &&
    active.x <= cols &&
    !origin &&
    wraparound &&
    !reverseWraparound &&
    !coreService.modes.insertMode &&
    !options.convertEol &&
    _charsetService.charset === undefined &&
    hasUsualTabs(active.tabs, cols)
  );
}

/** Every eighth column, as in a fresh terminal. */
export function hasUsualTabs(tabs: Record<number, boolean | undefined>, cols: number): boolean {
  for (let x = 0; x < cols; x++) if (Boolean(tabs[x]) !== (x % 8 === 0)) return false;
  return true;
}
