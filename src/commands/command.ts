import type { Settings, SettingName } from '../config.ts';
import type { Option } from '../faces/cli/args.ts';

/** Streams and surroundings a command may use; nothing else in the program touches them. */
export interface Surroundings {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly env: NodeJS.ProcessEnv;
  /** Where the program was started; throws when that directory is gone. */
  readonly cwd: () => string;
  readonly version: string;
}

export interface Invocation extends Surroundings {
  readonly settings: Settings;
  /** The command's own flags. */
  readonly flags: ReadonlyMap<string, string | readonly string[]>;
  readonly words: readonly string[];
}

export interface Command {
  readonly name: string;
  /** What a reference calls it. */
  readonly otherName?: string;
  /** After `fairlead <name>`. */
  readonly usage: string;
  readonly summary: string;
  readonly details?: string;
  readonly examples?: readonly (readonly [command: string, meaning: string])[];
  readonly settings: readonly SettingName[];
  readonly flags?: readonly Option[];
  /** What its first word may be, or a file. */
  readonly firstWords?: readonly string[] | 'file';
  /** Words after the flags mean something. */
  readonly takesWords?: boolean;
  /** Goes on, or ends in its own way, when nobody reads its output any more. */
  readonly serves?: boolean;
  /** Loads what it needs only now, and resolves with the exit code. */
  readonly run: (invocation: Invocation) => Promise<number>;
}
