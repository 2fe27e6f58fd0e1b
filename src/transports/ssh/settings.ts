/** What the operator may change about SSH, after reading and clamping (docs/requirements/remote.md section 6). */
export interface SshSettings {
  readonly connectTimeoutMs: number;
  readonly commandTimeoutMs: number;
  readonly maxRetries: number;
  readonly retryDelayMs: number;
  /** 0: never. */
  readonly inactivityTimeoutMs: number;
  /** What `compress` means when a caller does not say. */
  readonly compression: boolean;
  /** How long a finished command is kept after its end or its last reading. */
  readonly commandCleanupMs: number;
  readonly commandBufferBytes: number;
  /** 0: never. */
  readonly shellInactivityMs: number;
  readonly shellBufferBytes: number;
  readonly outputDefaultBytes: number;
  readonly outputMaxBytes: number;
  readonly listDefaultItems: number;
  readonly listMaxItems: number;
  readonly initialPeekMs: number;
  readonly initialBufferBytes: number;
  readonly maxSessions: number;
}

export const defaultSshSettings: SshSettings = {
  connectTimeoutMs: 30_000,
  commandTimeoutMs: 180_000,
  maxRetries: 3,
  retryDelayMs: 1000,
  inactivityTimeoutMs: 300_000,
  compression: false,
  commandCleanupMs: 60_000,
  commandBufferBytes: 10 << 20,
  shellInactivityMs: 600_000,
  shellBufferBytes: 10 << 20,
  outputDefaultBytes: 16_384,
  outputMaxBytes: 1 << 20,
  listDefaultItems: 500,
  listMaxItems: 10_000,
  initialPeekMs: 100,
  initialBufferBytes: 4096,
  maxSessions: 64,
};
