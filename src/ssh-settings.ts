import { defaultIdempotency } from './engine/call/idempotency.ts';
import type { Log } from './system/incident.ts';
import type { HostKeyPolicy } from './transports/ssh/login/known-hosts.ts';
import { defaultStreamSettings, lagPolicies, type StreamSettings } from './streams/settings.ts';
import { defaultSshSettings, type SshSettings } from './transports/ssh/settings.ts';
import { parseByteCount } from './lib/byte-count.ts';
import type { Environment } from './config.ts';

/**
 * What the SSH tools take from the environment, by the names of their reference (docs/requirements/remote.md section 6). Unlike our own
 * settings, bad values never stop the start: unreadable ones become the default, out-of-range ones the nearest bound,
 * and the log says so once.
 */
export interface SshVariable {
  readonly variable: string;
  /** `seconds` are kept in milliseconds. */
  readonly kind: 'seconds' | 'milliseconds' | 'bytes' | 'count' | 'switch' | 'choice';
  readonly default: number | boolean | string;
  readonly min: number;
  readonly max: number;
  readonly help: string;
  /** Of a choice. */
  readonly words?: readonly string[] | undefined;
  /** 0 is allowed too, below `min`. */
  readonly orZero?: true | undefined;
}

/** The longest delay a Node timer takes; no number here needs to be larger. */
const ceiling = 0x7fffffff;
const largestBuffer = 1 << 30;

const defaults = {
  ...defaultSshSettings,
  ...defaultStreamSettings,
  idempotencyTtlMs: defaultIdempotency.ttlMs,
  idempotencyMaxEntries: defaultIdempotency.maxEntries,
};
/** One cap is for both: what a tool shows and what a resource returns. */
type Field = Exclude<keyof typeof defaults, 'readBytes'>;

type Row = readonly [
  variable: string,
  kind: SshVariable['kind'],
  range: readonly [min: number, max: number],
  help: string,
  more?: Pick<SshVariable, 'words' | 'orZero'>,
];

const from = (min: number): [number, number] => [min, ceiling];
const none: [number, number] = [0, 0];

const rows: Readonly<Record<Field, Row>> = {
  connectTimeoutMs: ['SSH_CONNECT_TIMEOUT', 'seconds', from(1), 'Connecting: TCP, handshake and login, per attempt'],
  commandTimeoutMs: ['SSH_COMMAND_TIMEOUT', 'seconds', from(1), 'How long a command of `ssh_exec` may run'],
  maxRetries: ['SSH_MAX_RETRIES', 'count', [0, 20], 'Further attempts to connect'],
  retryDelayMs: ['SSH_RETRY_DELAY_MS', 'milliseconds', [0, 10_000], 'Pause before the first of them; it doubles'],
  inactivityTimeoutMs: ['SSH_INACTIVITY_TIMEOUT', 'seconds', from(0), 'An unused session ends after this; 0 = never'],
  compression: ['SSH_COMPRESSION', 'switch', none, 'Compress unless a call says otherwise; slower on fast links'],
  maxSessions: ['SSH_MAX_SESSIONS', 'count', [1, 10_000], 'Sessions at one time'],
  commandCleanupMs: [
    'SSH_COMMAND_CLEANUP_TTL',
    'seconds',
    from(0),
    'How long a finished command is kept after its end or last reading',
  ],
  commandBufferBytes: [
    'SSH_COMMAND_MAX_BUFFER_SIZE',
    'bytes',
    [4096, largestBuffer],
    'Output kept of each stream of a command',
  ],
  shellInactivityMs: [
    'SSH_SHELL_INACTIVITY_TTL',
    'seconds',
    from(0),
    'A shell without input and output ends after this; 0 = never',
  ],
  shellBufferBytes: ['SSH_SHELL_MAX_BUFFER_SIZE', 'bytes', [4096, largestBuffer], 'Output kept of a shell'],
  initialPeekMs: [
    'SSH_SHELL_OPEN_INITIAL_PEEK_MS',
    'milliseconds',
    [0, 60_000],
    'How long `ssh_shell_open` waits for a prompt',
  ],
  initialBufferBytes: [
    'SSH_SHELL_OPEN_INITIAL_BUFFER_MAX_BYTES',
    'bytes',
    [0, largestBuffer],
    'How much of it is shown',
  ],
  outputDefaultBytes: [
    'SSH_MCP_OUTPUT_DEFAULT_BYTES',
    'bytes',
    [1, largestBuffer],
    'Output in an answer unless the call says otherwise',
  ],
  outputMaxBytes: ['SSH_MCP_OUTPUT_MAX_BYTES_CAP', 'bytes', [1, largestBuffer], 'The most a call may ask for'],
  listDefaultItems: ['SSH_MCP_LIST_MAX_ITEMS', 'count', from(1), 'Entries in a list unless the call says otherwise'],
  listMaxItems: ['SSH_MCP_LIST_MAX_ITEMS_CAP', 'count', from(1), 'The most a call may ask for'],
  debounceMs: [
    'SSH_NOTIFY_DEBOUNCE_MS',
    'milliseconds',
    [5, 5000],
    'From the first change of a resource to its notification',
  ],
  forceFlushMs: [
    'SSH_NOTIFY_FORCE_FLUSH_MS',
    'milliseconds',
    [100, 60_000],
    'A resource that changes all the time is announced at least this often',
  ],
  keepaliveMs: [
    'SSH_NOTIFY_KEEPALIVE_S',
    'seconds',
    [5, 300_000],
    'A resource without changes is announced this often',
  ],
  flushBytes: [
    'SSH_NOTIFY_FLUSH_BYTES',
    'bytes',
    [1024, 1 << 20],
    'So many new bytes are announced at once; 0 = however many',
    { orZero: true },
  ],
  laneBuffer: ['SSH_LANE_BUFFER', 'count', [16, 65_536], 'Events that wait in a lane; then its lag policy applies'],
  maxSubsPerUri: ['SSH_MAX_SUBS_PER_URI', 'count', [1, 65_535], 'Subscriptions and lanes on one resource'],
  maxSubsTotal: ['SSH_MAX_SUBS_TOTAL', 'count', [1, 65_535], 'Subscriptions and lanes in all'],
  lagPolicy: [
    'SSH_LAG_POLICY_DEFAULT',
    'choice',
    none,
    'What a full lane does unless `sub_open` says otherwise',
    { words: lagPolicies },
  ],
  blockMs: [
    'SSH_BP_BLOCK_TIMEOUT_MS',
    'milliseconds',
    [100, 600_000],
    'How long a lane with `block_slow` may stop its producer at one time',
  ],
  filterMax: ['SSH_FILTER_REGEX_MAX', 'count', [16, 65_536], 'Characters in the filter of a lane'],
  replayBytes: ['SSH_REPLAY_WINDOW_BYTES', 'bytes', [4096, 64 << 20], 'How far back `sub_replay` reaches'],
  leakWarnMs: [
    'SSH_SUB_LEAK_RISK_WARN_S',
    'seconds',
    [1, 3_600_000],
    'A shell or command without a subscriber is named as a leak after this',
  ],
  leakKillMs: ['SSH_SUB_LEAK_RISK_KILL_S', 'seconds', [0, 86_400_000], 'It is closed after this; 0 = never'],
  idempotencyTtlMs: [
    'SSH_IDEMPOTENCY_TTL_SECS',
    'seconds',
    from(1),
    'How long an answer is kept for its idempotency key',
  ],
  idempotencyMaxEntries: ['SSH_IDEMPOTENCY_MAX_ENTRIES', 'count', from(1), 'How many of them'],
};

export const sshVariables: ReadonlyMap<Field, SshVariable> = new Map(
  (Object.entries(rows) as [Field, Row][]).map(([field, [variable, kind, [min, max], help, more]]) => [
    field,
    { variable, kind, default: defaults[field], min, max, help, ...more },
  ]),
);

const unused = 'Accepted, without effect';
const cap = (name: string, preset: number, min: number, max: number): SshVariable => ({
  variable: name,
  kind: 'count',
  default: preset,
  min,
  max,
  help: unused,
});

/** Variables of the reference that nothing here needs: events take the place of its queues and polling. */
export const unusedSshVariables: readonly SshVariable[] = [
  cap('SSH_SHELL_BROADCAST_CAP', 1024, 16, 65_536),
  cap('SSH_COMMAND_BROADCAST_CAP', 1024, 16, 65_536),
  cap('SSH_TRANSFER_BROADCAST_CAP', 256, 8, 4096),
  cap('SSH_SESSION_BROADCAST_CAP', 256, 8, 4096),
  cap('SSH_FORWARD_BROADCAST_CAP', 256, 8, 4096),
  cap('SSH_MUX_BUFFER', 8192, 64, 1_048_576),
  {
    variable: 'SSH_MCP_PEER_GC_INTERVAL_S',
    kind: 'seconds',
    default: 30_000,
    min: 5,
    max: 300_000,
    help: unused,
  },
];

interface SshConfiguration extends SshSettings {
  readonly streams: StreamSettings;
  readonly idempotencyTtlMs: number;
  readonly idempotencyMaxEntries: number;
  readonly hostKeyPolicy: HostKeyPolicy;
}

export function readSshSettings(env: Environment, warn: Log): SshConfiguration {
  const read: Record<string, number | boolean | string> = {};
  for (const [field, row] of sshVariables) read[field] = readOne(row, env, warn);
  for (const row of unusedSshVariables) readOne(row, env, warn);
  const values = read as unknown as typeof defaults;
  const pick = <T extends object>(like: T): T =>
    Object.fromEntries(Object.keys(like).map((field) => [field, read[field]])) as T;
  return {
    ...pick(defaultSshSettings),
    idempotencyTtlMs: values.idempotencyTtlMs,
    idempotencyMaxEntries: values.idempotencyMaxEntries,
    streams: { ...pick(defaultStreamSettings), readBytes: values.outputMaxBytes },
    outputDefaultBytes: Math.min(values.outputDefaultBytes, values.outputMaxBytes),
    listDefaultItems: Math.min(values.listDefaultItems, values.listMaxItems),
    hostKeyPolicy: readPolicy(env, warn),
  };
}

/** Ours wins over the reference's: `FAIRLEAD_SSH_…`. */
function given(env: Environment, name: string): { readonly name: string; readonly text: string } | undefined {
  for (const one of [`FAIRLEAD_${name}`, name]) {
    const text = env[one]?.trim();
    if (text !== undefined && text !== '') return { name: one, text };
  }
  return undefined;
}

function readOne(row: SshVariable, env: Environment, warn: Log): number | boolean | string {
  const found = given(env, row.variable);
  if (found === undefined) return row.default;
  const { name, text } = found;
  const parsed = parse(row, text);
  if (parsed === undefined) {
    const wanted = wantedOf(row);
    warn(`${name}: ${JSON.stringify(text.slice(0, 40))} is not ${wanted}; ${shown(row)} is used`);
    return row.default;
  }
  if (typeof parsed !== 'number' || (row.orZero && parsed === 0)) return parsed;
  const scale = row.kind === 'seconds' ? 1000 : 1;
  const max = Math.floor(row.max / scale);
  const fitting = Math.min(Math.max(parsed, row.min), max);
  if (fitting !== parsed) {
    warn(`${name}: ${text} is ${parsed < fitting ? 'less' : 'more'} than ${fitting}; ${fitting} is used`);
  }
  return fitting * scale;
}

function parse({ kind, words }: SshVariable, text: string): number | boolean | string | undefined {
  if (kind === 'choice') return words?.find((word) => word === text.toLowerCase());
  return kind === 'switch' ? parseSwitch(text) : parseNumber(text, kind === 'bytes');
}

function wantedOf({ kind, words = [] }: SshVariable): string {
  if (kind === 'choice') return `one of ${words.join(', ')}`;
  return { switch: 'true or false', bytes: 'a size such as 64k' }[kind as string] ?? 'a whole number';
}

/** A default as its variable would spell it. */
export function shown({ kind, default: value }: SshVariable): string {
  if (typeof value !== 'number') return String(value);
  if (kind === 'seconds') return String(value / 1000);
  if (kind === 'bytes' && value % (1 << 20) === 0) return `${value / (1 << 20)}m`;
  return String(value);
}

const switches: Readonly<Record<string, boolean>> = {
  true: true,
  1: true,
  yes: true,
  false: false,
  0: false,
  no: false,
};

const parseSwitch = (text: string): boolean | undefined => switches[text.toLowerCase()];

const parseNumber = (text: string, size: boolean): number | undefined =>
  size || /^-?\d+$/.test(text) ? parseByteCount(text) : undefined;

const policies: readonly string[] = ['strict', 'ask', 'accept-new', 'off'] satisfies HostKeyPolicy[];

/** An unknown word counts as strict, so that a typo cannot weaken the check. */
function readPolicy(env: Environment, warn: Log): HostKeyPolicy {
  const found = given(env, 'SSH_HOST_KEY_POLICY');
  if (found === undefined) return 'accept-new';
  const word = found.text.toLowerCase();
  if (policies.includes(word)) return word as HostKeyPolicy;
  warn(
    `${found.name}: ${JSON.stringify(found.text.slice(0, 40))} is not strict, ask, accept-new or off; strict is used`,
  );
  return 'strict';
}
