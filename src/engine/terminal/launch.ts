/** How a terminal was started: enough to do it again, and no value of its environment. */
export interface Launch {
  /** The command line, where it was started with one and not as a shell. */
  readonly command?: string | undefined;
  /** Its name from the opener, until its program sets a title. */
  readonly title?: string | undefined;
  /** Names of the variables it was given besides the usual ones. */
  readonly env?: readonly string[] | undefined;
}

/** One line that a shell takes apart into these words again. */
export const commandLine = (argv: readonly string[]): string =>
  argv.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ');
