/**
 * How typed bytes reach programs:
 * - `lines`: edited and echoed by the terminal driver (canonical mode);
 * - `hidden`: lines without echo, as at a password prompt;
 * - `echoed`: each byte at once, echoed by the driver (`read -n 1`);
 * - `cbreak`: each byte at once, Enter as a newline, echoed by the program if at all;
 * - `raw`: each byte at once and unchanged: line editors and full-screen programs.
 */
export type InputMode = 'lines' | 'hidden' | 'echoed' | 'cbreak' | 'raw';

/** The driver edits lines and hands over whole ones. */
export const isCanonical = (mode: InputMode | undefined): boolean => mode === 'lines' || mode === 'hidden';

/** The driver echoes what is typed. Undefined when it is up to the program, or unknown. */
export function driverEchoes(mode: InputMode | undefined): boolean | undefined {
  if (mode === 'hidden') return false;
  return mode === 'lines' || mode === 'echoed' ? true : undefined;
}

/** The program reads keys and shows them itself, as line editors and full-screen programs do. Undefined when unknown. */
export const drawsKeys = (mode: InputMode | undefined): boolean | undefined =>
  mode === undefined ? undefined : mode === 'cbreak' || mode === 'raw';

interface Watched {
  readonly process: { inputMode(): InputMode | undefined } | undefined;
  readonly screen: { readonly modes: { readonly bracketedPaste: boolean } };
}

/**
 * A program draws its own input line. Where the channel cannot tell, only a program that asks for bracketed paste does: line editors
 * ask for it while they read.
 */
export const editsLine = ({ process, screen }: Watched): boolean =>
  drawsKeys(process?.inputMode()) ?? screen.modes.bracketedPaste;
