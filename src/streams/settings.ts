/** What the operator may change about streams, after reading and clamping (docs/requirements/remote.md section 6). */
export interface StreamSettings {
  /** From the first change of a clean resource to its notification. */
  readonly debounceMs: number;
  /** A resource that changes all the time is announced at least this often. */
  readonly forceFlushMs: number;
  /** So many new bytes are announced at once; 0: never because of their number. */
  readonly flushBytes: number;
  /** A resource without changes is announced this often, so that a client knows the connection lives. */
  readonly keepaliveMs: number;
  /** Events that wait in a lane; then its lag policy applies. */
  readonly laneBuffer: number;
  readonly maxSubsPerUri: number;
  readonly maxSubsTotal: number;
  readonly lagPolicy: LagPolicy;
  /** How long a lane with `block_slow` may stop its producer at one time. */
  readonly blockMs: number;
  /** Characters in a filter. */
  readonly filterMax: number;
  readonly replayBytes: number;
  readonly leakWarnMs: number;
  /** 0: never. */
  readonly leakKillMs: number;
  /** The most one read returns. */
  readonly readBytes: number;
}

/** What a lane does when its queue is full. */
export const lagPolicies = ['snapshot', 'drop_oldest', 'drop_newest', 'block_slow'] as const;
export type LagPolicy = (typeof lagPolicies)[number];

export const lifetimes = ['manual', 'auto_close', 'lease'] as const;
export type LifetimeName = (typeof lifetimes)[number];

export const defaultStreamSettings: StreamSettings = {
  debounceMs: 200,
  forceFlushMs: 1000,
  flushBytes: 64 << 10,
  keepaliveMs: 30_000,
  laneBuffer: 1024,
  maxSubsPerUri: 16,
  maxSubsTotal: 1024,
  lagPolicy: 'snapshot',
  blockMs: 5000,
  filterMax: 1024,
  replayBytes: 1 << 20,
  leakWarnMs: 2000,
  leakKillMs: 0,
  readBytes: 1 << 20,
};
