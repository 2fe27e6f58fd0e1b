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
export function inputModeOf(settings: Uint32Array): 'lines' | 'cbreak' | 'raw' {
  if (((settings[3] ?? 0) & ICANON) !== 0) return 'lines';
  return ((settings[0] ?? 0) & (ICRNL | INLCR)) === ICRNL ? 'cbreak' : 'raw';
}

/** What the settings of a terminal, as TCGETS gives them, say about typed text. */
export function echoOf(settings: Uint32Array): boolean | undefined {
  const local = settings[3] ?? 0;
  if ((local & ECHO) !== 0) return true;
  // Line editors and full-screen programs switch both off and show what they please; a password prompt only echo.
  return (local & ICANON) !== 0 ? false : undefined;
}
