import type { Size } from '../terminal/channel.ts';
import type { OutputLog } from '../terminal/output-log.ts';
import type { Resumed } from '../terminal/terminal-init.ts';
import type { OpenedChannel } from '../terminal/transport.ts';

/** A far side that another process served before. */
export interface KeptTerminal {
  readonly id: string;
  readonly size: Size;
  readonly opened: Pick<OpenedChannel, 'channel' | 'environment' | 'release'>;
  /** Its output so far; that of the channel goes on behind it. */
  readonly log: OutputLog;
  /** What was noted and saved of it, where anything was. */
  readonly facts: Uint8Array | undefined;
  readonly state: Uint8Array | undefined;
  /** Up to this offset others have answered what programs ask their terminal. */
  readonly seen: number | undefined;
  readonly endedAt: number | undefined;
}

/** What a terminal was in the process before; nothing for a new one. */
export interface TerminalBefore {
  readonly resumed?: Resumed;
  readonly number?: number | undefined;
  readonly next?: number | undefined;
  /** Its session log, and the files of its casts. */
  readonly log?: string | undefined;
  readonly recordings?: readonly string[] | undefined;
}
