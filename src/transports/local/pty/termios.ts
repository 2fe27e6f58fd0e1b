import type { InputMode } from '../../../engine/shells/input-mode.ts';

const ECHO = 0o10;
const ICANON = 0o2;
const INLCR = 0o100;
const ICRNL = 0o400;

/** A line that is not ended holds one byte less than the driver's buffer. */
const LINE_BYTES = 4095;

/** How much of a line the terminal's driver keeps while it edits lines itself; undefined while programs get keys as they come. */
export function longestLineOf(settings: Uint32Array): number | undefined {
  return ((settings[3] ?? 0) & ICANON) === 0 ? undefined : LINE_BYTES;
}

/**
 * How typed bytes reach programs. Line editors and full-screen programs tell Enter from Ctrl-J (zsh by exchanging them); the
 * `read` of a shell does not.
 */
export function inputModeOf(settings: Uint32Array): InputMode {
  const local = settings[3] ?? 0;
  const echoes = (local & ECHO) !== 0;
  if ((local & ICANON) !== 0) return echoes ? 'lines' : 'hidden';
  if (echoes) return 'echoed';
  return ((settings[0] ?? 0) & (ICRNL | INLCR)) === ICRNL ? 'cbreak' : 'raw';
}
