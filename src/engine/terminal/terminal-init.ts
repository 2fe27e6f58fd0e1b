import type { Clock } from '../../lib/clock.ts';
import type { Channel, Size } from './channel.ts';
import type { ShellEnvironment } from './environment.ts';
import type { Log } from '../../system/incident.ts';
import type { SavedState } from '../resume/saved-state.ts';
import type { Launch } from './launch.ts';
import type { OutputLog } from './output-log.ts';
import type { JudgeTyped } from '../input/typed-line.ts';

export interface TerminalInit {
  readonly id: string;
  /** What was opened, for people; nothing in the engine asks. */
  readonly target?: string;
  /** Others than this principal must not know of it. */
  readonly owner?: string | undefined;
  /** How many bytes of output are kept at most. */
  readonly capacity?: number | undefined;
  readonly number: number;
  readonly name: string | undefined;
  readonly launch?: Launch | undefined;
  /** What runs in it: the path of a shell, usually. */
  readonly program: string;
  readonly channel: Channel;
  readonly size: Size;
  readonly scrollback: number;
  readonly clock: Clock;
  /** Marks that carry it come from our shell integration; others may be forged by a program's output. */
  readonly nonce: string | undefined;
  /** What whoever opened it should know of how that went. */
  readonly notes?: readonly string[] | undefined;
  readonly environment?: ShellEnvironment | undefined;
  /** Hears of mistakes of ours with its output. */
  readonly report?: Log | undefined;
  /** Who is asked about each line before it is entered, if anybody is at present. */
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
