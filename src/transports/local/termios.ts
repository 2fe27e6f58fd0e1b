const ECHO = 0o10;
const ICANON = 0o2;

/** What the settings of a terminal, as TCGETS gives them, say about typed text. */
export function echoOf(settings: Uint32Array): boolean | undefined {
  const local = settings[3] ?? 0;
  if ((local & ECHO) !== 0) return true;
  // Line editors and full-screen programs switch both off and show what they please; a password prompt only echo.
  return (local & ICANON) !== 0 ? false : undefined;
}
