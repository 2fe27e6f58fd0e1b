/** What tells that the command is over, strongest first. */
export type Evidence =
  /** The exit status of the terminal's own process. */
  | 'child'
  /** The shell said so, in a mark that carries this terminal's nonce. */
  | 'mark'
  /** A sentinel printed after the command: words only we know. */
  | 'marker'
  /** The shell is back in the foreground, at its prompt. */
  | 'foreground'
  /** Nothing moves any more. */
  | 'quiet'
  | 'none';
