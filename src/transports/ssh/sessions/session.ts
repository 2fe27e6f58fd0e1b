import type { ExecOptions, PtyRequest, SshProcess } from '../link/link.ts';

/** Why a session ended: disconnected, idle too long, or the link broke. */
export type SessionEnd =
  | { readonly by: 'disconnect' }
  | { readonly by: 'idle' }
  | { readonly by: 'lost'; readonly reason: string };

export type ChildKind = 'command' | 'shell' | 'transfer' | 'forward' | 'rsync';

/** Something that lives on a session and ends with it. */
export interface SessionChild {
  readonly kind: ChildKind;
  /** The session is over: take the status that says why, and let go of everything. Never rejects. */
  readonly sessionEnded: (end: SessionEnd) => Promise<void>;
}

/** A login to one host. Its commands and shells run over one link, or over several when the server gives few channels. */
export interface SshSession {
  readonly id: string;
  readonly principal: string;
  readonly host: string;
  readonly port: number;
  readonly username: string;
  readonly agentId: string | undefined;
  readonly name: string | undefined;
  readonly connectedAt: number;
  readonly persistent: boolean;
  readonly compression: boolean;
  readonly ended: SessionEnd | undefined;
  /** When the idle reaper would take it; undefined when it never will. */
  readonly expiresAt: number | undefined;
  /**
   * Opens a channel, waiting for a free one for at most ten seconds; then `CHANNEL_FAILED`. `queued` is called when it
   * has to wait.
   */
  exec(command: string, options: ExecOptions, signal: AbortSignal, queued?: () => void): Promise<SshProcess>;
  shell(pty: PtyRequest, options: Omit<ExecOptions, 'pty'>, signal: AbortSignal): Promise<SshProcess>;
  /** A sign of life: the idle clock starts again. */
  touch(): void;
  /** Counts as business until disposed; a session with business is not idle. */
  adopt(child: SessionChild): Disposable;
  /** How many children of a kind are alive. */
  count(kind: ChildKind): number;
}
