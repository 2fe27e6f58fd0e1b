import type { Settings, SettingName } from '../config.ts';
import type { Option } from '../faces/cli/args.ts';

/** Streams and environment of a command; no other part of the program touches them. */
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
  /** Its name in a reference. */
  readonly otherName?: string;
  /** After `fairlead <name>`. */
  readonly usage: string;
  readonly summary: string;
  readonly details?: string;
  readonly examples?: readonly (readonly [command: string, meaning: string])[];
  readonly settings: readonly SettingName[];
  readonly flags?: readonly Option[];
  /** Values of its first argument, for completion. */
  readonly firstWords?: readonly string[] | 'file';
  /** Takes arguments besides flags. */
  readonly takesWords?: boolean;
  /** A closed stdout does not end it. */
  readonly serves?: boolean;
  /** Loads its parts and resolves with the exit code. */
  readonly run: (invocation: Invocation) => Promise<number>;
}
