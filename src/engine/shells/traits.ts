/** The language in which a shell can be told to print how a command went. */
export type Dialect = 'posix' | 'fish' | 'csh';

/** A shell-integration script: each makes its shell mark prompts and commands. `sh` is for plain shells. */
export type ShellKind = 'bash' | 'zsh' | 'fish' | 'sh';

/** What must be known of a shell to type commands into it and to understand what it does. */
export interface ShellTraits {
  /** Without one the shell is typed into like any program that reads lines, and no exit code is known. */
  readonly dialect?: Dialect;
  /** It reads with a line editor of its own, in raw mode, which takes lines of any length. */
  readonly hasLineEditor: boolean;
  /** Whether its line editor sends the terminal queries (DA, DSR) and reads the answers; `some`: some builds do. */
  readonly asksTerminal: 'no' | 'some' | 'yes';
  /** `-l` makes it a login shell. */
  readonly takesLoginFlag?: true;
  /** The program runs a shell named by its first argument (`busybox sh`). */
  readonly isWrapper?: true;
  /** The script that integrates a shell called by this name. */
  readonly integration?: ShellKind;
  /** What the plain-shell script is told when `sh` is really this program. */
  readonly plainFlavour?: 'bash' | 'dash' | 'ash';
  /** Its name in the session book; absent: `unknown`. */
  readonly type?: string;
  /** What its integration script can tell and do; of `sh` for all plain shells. */
  readonly marks?: {
    /** It announces where the output of a command begins. Otherwise that is where the echo of the line ends. */
    readonly output: boolean;
    /** When it takes in changed environment variables by itself. */
    readonly readsVariables: 'before_command' | 'at_prompt' | 'never';
    /** It keeps a line that is incomplete or wrong in its editor, and says nothing. */
    readonly keepsRefusedLine?: true;
    /** It reports a comment as a command that ran. */
    readonly runsComments?: true;
  };
}

const plain = { dialect: 'posix', hasLineEditor: false, asksTerminal: 'some' } as const;
const plainMarks = { output: false, readsVariables: 'never' } as const;
const csh = { dialect: 'csh', hasLineEditor: false, asksTerminal: 'some' } as const;
const unspoken = { hasLineEditor: false, asksTerminal: 'some' } as const;

/** Every shell that is known by name. What a shell can do is asked here, never by comparing its name. */
const table: Readonly<Record<string, ShellTraits>> = {
  bash: {
    dialect: 'posix',
    hasLineEditor: true,
    asksTerminal: 'no',
    takesLoginFlag: true,
    integration: 'bash',
    plainFlavour: 'bash',
    type: 'bash',
    marks: { output: true, readsVariables: 'at_prompt' },
  },
  rbash: { dialect: 'posix', hasLineEditor: true, asksTerminal: 'no' },
  zsh: {
    dialect: 'posix',
    hasLineEditor: true,
    asksTerminal: 'no',
    takesLoginFlag: true,
    integration: 'zsh',
    type: 'zsh',
    marks: { output: true, readsVariables: 'before_command', runsComments: true },
  },
  fish: {
    dialect: 'fish',
    hasLineEditor: true,
    asksTerminal: 'yes',
    takesLoginFlag: true,
    integration: 'fish',
    type: 'fish',
    marks: { output: true, readsVariables: 'before_command', keepsRefusedLine: true },
  },
  sh: { ...plain, takesLoginFlag: true, integration: 'sh', marks: plainMarks },
  dash: { ...plain, takesLoginFlag: true, integration: 'sh', plainFlavour: 'dash' },
  ash: { ...plain, takesLoginFlag: true, integration: 'sh', plainFlavour: 'ash' },
  busybox: { ...plain, isWrapper: true, plainFlavour: 'ash' },
  ksh: { ...plain, takesLoginFlag: true },
  ksh93: plain,
  mksh: { ...plain, takesLoginFlag: true },
  yash: plain,
  tcsh: { ...csh, hasLineEditor: true, takesLoginFlag: true },
  csh: { ...csh, takesLoginFlag: true },
  'bsd-csh': csh,
  pwsh: { ...unspoken, hasLineEditor: true, type: 'powershell' },
  powershell: { ...unspoken, hasLineEditor: true, type: 'powershell' },
  nu: { ...unspoken, type: 'nushell' },
  cmd: { ...unspoken, type: 'cmd' },
  elvish: unspoken,
  xonsh: unspoken,
};

const shells: ReadonlyMap<string, ShellTraits> = new Map(Object.entries(table));

/** By the name of the program, or the one its integration announced; undefined: no shell that is known. */
export const traitsOf = (name: string | undefined): ShellTraits | undefined => shells.get(name ?? '');

/** A login shell is called `-bash`. */
export const isShell = (program: string | undefined): boolean => shells.has((program ?? '').replace(/^-/, ''));
