import type { Clock } from '../../lib/clock.ts';
import type { Channel, Size } from './channel.ts';
import type { ShellEnvironment } from './environment.ts';
import type { Log } from '../../system/incident.ts';
import type { SavedState } from '../resume/saved-state.ts';
import type { Launch } from './launch.ts';
import type { OutputLog } from './output-log.ts';
import type { ScreenColors } from '../screen/theme.ts';
import type { JudgeTyped } from '../input/typed-line.ts';

/** What a terminal was opened as. */
export interface TerminalIdentity {
  /** What was opened, for people; nothing in the engine asks. */
  readonly target: string;
  /** Others than this principal must not know of it. */
  readonly owner: string | undefined;
  readonly number: number;
  /** A person may change it. */
  name: string | undefined;
  readonly launch: Launch;
  /** What runs in it: the path of a shell, usually. */
  readonly program: string;
  /** What its opener should know of how that went. */
  readonly notes: readonly string[];
  readonly createdAt: number;
  /** The environment of its shell, where that can be seen and changed. */
  readonly environment: ShellEnvironment | undefined;
}

export function identityOf(init: TerminalInit): TerminalIdentity {
  const { target = 'other', owner, number, name, launch = {}, program, notes = [], environment, clock, resumed } = init;
  const createdAt = resumed?.createdAt ?? clock.now();
  return { target, owner, number, name, launch, program, notes, createdAt, environment };
}

export interface TerminalInit extends Partial<Pick<TerminalIdentity, 'target' | 'owner' | 'environment'>> {
  readonly id: string;
  /** How many bytes of output are kept at most. */
  readonly capacity?: number | undefined;
  readonly number: number;
  readonly name: string | undefined;
  readonly launch?: Launch | undefined;
  readonly program: string;
  readonly notes?: readonly string[] | undefined;
  readonly channel: Channel;
  readonly size: Size;
  readonly scrollback: number;
  /** Rows above the screen that can be read at present; those that the screen does not keep are rendered from the log. */
  readonly readableRows?: (() => number) | undefined;
  readonly clock: Clock;
  /** The colours that programs are told when they ask. */
  readonly theme?: ScreenColors | undefined;
  /** Marks that carry it come from our shell integration; others may be forged by a program's output. */
  readonly nonce: string | undefined;
  /** Takes a line about each fault of ours with its output. */
  readonly report?: Log | undefined;
  /** The judge of lines at present, asked before each is entered; undefined: none judges. */
  readonly judgeTyped?: (() => JudgeTyped | undefined) | undefined;
  /** Called once when the terminal is disposed. */
  readonly release: () => void;
  /** It was served by another process before. */
  readonly resumed?: Resumed | undefined;
}

export interface Resumed {
  /** The output so far; that of the channel goes on behind it. */
  readonly log: OutputLog;
  readonly state: SavedState | undefined;
  /** What programs asked their terminal before this offset was answered. */
  readonly seen: number;
  readonly createdAt: number;
  readonly endedAt: number | undefined;
}
