import { defaultIdempotency } from './engine/call/idempotency.ts';
import type { Log } from './system/incident.ts';
import type { HostKeyPolicy } from './transports/ssh/login/known-hosts.ts';
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
  readonly kind: 'seconds' | 'milliseconds' | 'bytes' | 'count' | 'switch';
  readonly default: number | boolean;
  readonly min: number;
  readonly max: number;
  readonly help: string;
}

/** The longest delay a Node timer takes; no number here needs to be larger. */
const ceiling = 0x7fffffff;
const largestBuffer = 1 << 30;

const defaults = {
  ...defaultSshSettings,
  idempotencyTtlMs: defaultIdempotency.ttlMs,
  idempotencyMaxEntries: defaultIdempotency.maxEntries,
};
type Field = keyof typeof defaults;

type Row = readonly [
  variable: string,
  kind: SshVariable['kind'],
  range: readonly [min: number, max: number],
  help: string,
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
  idempotencyTtlMs: [
    'SSH_IDEMPOTENCY_TTL_SECS',
    'seconds',
    from(1),
    'How long an answer is kept for its idempotency key',
  ],
  idempotencyMaxEntries: ['SSH_IDEMPOTENCY_MAX_ENTRIES', 'count', from(1), 'How many of them'],
};

export const sshVariables: ReadonlyMap<Field, SshVariable> = new Map(
  (Object.entries(rows) as [Field, Row][]).map(([field, [variable, kind, [min, max], help]]) => [
    field,
    { variable, kind, default: defaults[field], min, max, help },
  ]),
);

interface SshConfiguration extends SshSettings {
  readonly idempotencyTtlMs: number;
  readonly idempotencyMaxEntries: number;
  readonly hostKeyPolicy: HostKeyPolicy;
}

export function readSshSettings(env: Environment, warn: Log): SshConfiguration {
  const read: Record<string, number | boolean> = {};
  for (const [field, row] of sshVariables) read[field] = readOne(row, env, warn);
  const values = read as unknown as SshSettings & typeof defaults;
  return {
    ...values,
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

function readOne(row: SshVariable, env: Environment, warn: Log): number | boolean {
  const found = given(env, row.variable);
  if (found === undefined) return row.default;
  const { name, text } = found;
  const parsed = row.kind === 'switch' ? parseSwitch(text) : parseNumber(text, row.kind === 'bytes');
  if (parsed === undefined) {
    const wanted = { switch: 'true or false', bytes: 'a size such as 64k' }[row.kind as string] ?? 'a whole number';
    warn(`${name}: ${JSON.stringify(text.slice(0, 40))} is not ${wanted}; ${shown(row)} is used`);
    return row.default;
  }
  if (typeof parsed === 'boolean') return parsed;
  const scale = row.kind === 'seconds' ? 1000 : 1;
  const max = Math.floor(row.max / scale);
  const fitting = Math.min(Math.max(parsed, row.min), max);
  if (fitting !== parsed) {
    warn(`${name}: ${text} is ${parsed < fitting ? 'less' : 'more'} than ${fitting}; ${fitting} is used`);
  }
  return fitting * scale;
}

/** A default as its variable would spell it. */
export function shown({ kind, default: value }: SshVariable): string {
  if (typeof value === 'boolean') return String(value);
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

const policies: readonly string[] = ['strict', 'accept-new', 'off'] satisfies HostKeyPolicy[];

/** An unknown word counts as strict, so that a typo cannot weaken the check. */
function readPolicy(env: Environment, warn: Log): HostKeyPolicy {
  const found = given(env, 'SSH_HOST_KEY_POLICY');
  if (found === undefined) return 'accept-new';
  const word = found.text.toLowerCase();
  if (policies.includes(word)) return word as HostKeyPolicy;
  warn(`${found.name}: ${JSON.stringify(found.text.slice(0, 40))} is not strict, accept-new or off; strict is used`);
  return 'strict';
}
