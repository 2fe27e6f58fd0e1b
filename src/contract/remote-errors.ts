import { type ErrorCode, FairleadError } from './errors.ts';

export type Category = 'AUTH' | 'TRANSPORT' | 'REMOTE' | 'RESOURCE' | 'POLICY' | 'STATE' | 'INTERNAL';

/** Whether trying again can help: with back-off, after a change, by itself, never, or as the caller judges. */
export type Retry = 'yes' | 'cond' | 'recover' | 'no' | 'warn' | 'judge';

interface Row {
  readonly category: Category;
  readonly retry: Retry;
  /** Its row in the table every face reads. */
  readonly error: ErrorCode;
  /** What to do next, in one sentence of at most 120 characters. */
  readonly cure: string;
}

const row = (category: Category, retry: Retry, error: ErrorCode, cure: string): Row => ({
  category,
  retry,
  error,
  cure,
});

/** The codes of the remote reference (docs/requirements/remote.md section 2) and what each means to a caller. */
export const remoteErrors = {
  AUTH_FAILED: row(
    'AUTH',
    'no',
    'not_permitted',
    'Check username, key_path and agent; leave password out, and the person is asked for it',
  ),
  AUTH_KEY_PARSE: row(
    'AUTH',
    'no',
    'invalid_input',
    'Give a private key file only its owner can read; load an encrypted key into the SSH agent',
  ),
  HOST_KEY_UNKNOWN: row(
    'AUTH',
    'no',
    'not_permitted',
    'Have the person compare the fingerprint and add the host to known_hosts',
  ),
  HOST_KEY_MISMATCH: row(
    'AUTH',
    'no',
    'not_permitted',
    'Stop: the host changed or the connection is intercepted; the person must check known_hosts',
  ),
  CONNECTION_FAILED: row(
    'TRANSPORT',
    'yes',
    'unavailable',
    'Check address and port, and that the host is up; then try again',
  ),
  CONNECTION_TIMEOUT: row('TRANSPORT', 'yes', 'timeout', 'Check the address and firewalls, or raise timeout_secs'),
  TRANSPORT_ERROR: row('TRANSPORT', 'yes', 'unavailable', 'Connect again with ssh_connect and repeat the call'),
  RSYNC_PROTOCOL_ERROR: row('TRANSPORT', 'yes', 'unavailable', 'Try transport=sftp'),
  RSYNC_PARTIAL_TRANSFER: row('TRANSPORT', 'yes', 'unavailable', 'Run the same sync again with partial=true'),
  WRITE_FAILED: row('TRANSPORT', 'yes', 'terminal_exited', 'Open another shell with ssh_shell_open'),
  CHANNEL_FAILED: row(
    'TRANSPORT',
    'yes',
    'unavailable',
    'Wait until commands or shells of the session have ended, or open another session',
  ),
  COMMAND_FAILED: row(
    'TRANSPORT',
    'yes',
    'unavailable',
    'Check the session with ssh_sessions and run the command again',
  ),
  FORWARD_FAILED: row('TRANSPORT', 'yes', 'unavailable', 'Choose another local_port'),
  TIMEOUT: row('TRANSPORT', 'yes', 'timeout', 'Try again'),
  SERIAL_ERROR: row('TRANSPORT', 'yes', 'unavailable', 'Check the device and its permissions with serial_scan'),
  SFTP_ERROR: row('REMOTE', 'judge', 'unavailable', 'Look at the reason the server gave'),
  REMOTE_CMD_FAILED: row('REMOTE', 'judge', 'unavailable', 'Look at the exit code and stderr'),
  LOCAL_FILE_ERROR: row('REMOTE', 'judge', 'not_found', 'Check the local path'),
  LOCAL_NOT_FILE: row('REMOTE', 'judge', 'invalid_input', 'Give a regular file; for folders use ssh_rsync'),
  SFTP_OPEN_FAILED: row('REMOTE', 'judge', 'unavailable', 'The server offers no SFTP; use ssh_exec'),
  REMOTE_METADATA_ERROR: row('REMOTE', 'judge', 'unavailable', 'Check the remote path'),
  SESSION_NOT_FOUND: row('RESOURCE', 'no', 'not_found', 'List sessions with ssh_sessions or open one with ssh_connect'),
  SHELL_NOT_FOUND: row('RESOURCE', 'no', 'not_found', 'Open a shell with ssh_shell_open'),
  COMMAND_NOT_FOUND: row('RESOURCE', 'no', 'not_found', 'List commands with ssh_commands'),
  TRANSFER_NOT_FOUND: row('RESOURCE', 'no', 'not_found', 'Start it again with ssh_upload or ssh_download'),
  FORWARD_NOT_FOUND: row('RESOURCE', 'no', 'not_found', 'Start a forward with ssh_forward'),
  RESOURCE_GONE: row('RESOURCE', 'no', 'not_found', 'The resource is closed; open a new one'),
  SUB_NOT_FOUND: row('RESOURCE', 'no', 'not_found', 'List lanes with sub_list or open one with sub_open'),
  GRACE_TIMER_EXPIRED: row('RESOURCE', 'no', 'not_found', 'It closed after its last subscriber left; open a new one'),
  RSYNC_NOT_FOUND: row('RESOURCE', 'no', 'not_found', 'Start a run with ssh_rsync'),
  SERIAL_NOT_FOUND: row('RESOURCE', 'no', 'not_found', 'List open ports with serial_active'),
  MAX_SESSIONS_EXCEEDED: row('POLICY', 'cond', 'limit_reached', 'Disconnect a session you no longer need'),
  MAX_SHELLS_EXCEEDED: row('POLICY', 'cond', 'limit_reached', 'Close a shell with ssh_shell_close'),
  MAX_COMMANDS_EXCEEDED: row(
    'POLICY',
    'cond',
    'limit_reached',
    'Wait for a command or cancel one with ssh_exec_cancel',
  ),
  MAX_TRANSFERS_EXCEEDED: row('POLICY', 'cond', 'limit_reached', 'Wait for a transfer to end'),
  MAX_SUBS_PER_URI_EXCEEDED: row('POLICY', 'cond', 'limit_reached', 'Unsubscribe somewhere first'),
  MAX_SUBS_TOTAL_EXCEEDED: row('POLICY', 'cond', 'limit_reached', 'Unsubscribe somewhere first'),
  LANE_LIMIT_PER_URI: row('POLICY', 'cond', 'limit_reached', 'Close a lane of this URI with sub_close'),
  LANE_LIMIT_TOTAL: row('POLICY', 'cond', 'limit_reached', 'Close lanes with sub_close'),
  LANE_BUFFER_FULL: row('POLICY', 'cond', 'limit_reached', 'Read the resource, or choose another lag policy'),
  MUX_BACKPRESSURE: row('POLICY', 'cond', 'limit_reached', 'Read what was announced first'),
  LAG_DETECTED: row('POLICY', 'recover', 'limit_reached', 'Continue from the snapshot'),
  LAG_BACKPRESSURE: row('POLICY', 'cond', 'limit_reached', 'Read faster, or choose another lag policy'),
  RING_BUFFER_OVERFLOW: row('POLICY', 'recover', 'not_found', 'Replay from the start of the window'),
  SUB_LEAK_RISK: row('POLICY', 'warn', 'limit_reached', 'Subscribe to it, or close it'),
  PORT_IN_USE: row('POLICY', 'cond', 'conflict', 'Choose another local_port, or 0 for a free one'),
  SERIAL_BACKPRESSURE: row('POLICY', 'cond', 'limit_reached', 'Wait until the device took what was written'),
  RSYNC_VERSION_TOO_OLD: row('POLICY', 'cond', 'unsupported', 'Use transport=sftp, or install rsync 3.2 on the host'),
  RSYNC_FILE_LIST_TOO_LARGE: row('POLICY', 'cond', 'too_large', 'Sync a smaller tree, or exclude parts of it'),
  /** Ours (docs/decisions/0016): the reference knows no policy. */
  POLICY_BLOCKED: row('POLICY', 'cond', 'not_permitted', 'Do it another way, or ask the person to allow it'),
  SFTP_FEATURE_MISSING: row('POLICY', 'cond', 'unsupported', 'Use the other transport'),
  INVALID_ARGUMENT: row('STATE', 'no', 'invalid_input', 'Correct the argument and call again'),
  INVALID_REPEAT: row('STATE', 'no', 'invalid_input', 'Give a repeat from 1 to 64'),
  INVALID_LIFETIME: row('STATE', 'no', 'invalid_input', 'Use manual, auto_close or lease'),
  INVALID_LAG_POLICY: row('STATE', 'no', 'invalid_input', 'Use snapshot, drop_oldest, drop_newest or block_slow'),
  EMPTY_PATTERNS: row('STATE', 'no', 'invalid_input', 'Give at least one pattern'),
  TOO_MANY_PATTERNS: row('STATE', 'no', 'invalid_input', 'Give at most 16 patterns'),
  PATTERN_TOO_LONG: row('STATE', 'no', 'invalid_input', 'Shorten the pattern to 1024 bytes'),
  MODIFIER_NOT_ALLOWED: row('STATE', 'no', 'invalid_input', 'Press the key without this modifier'),
  FEATURE_DISABLED: row('STATE', 'no', 'unsupported', 'The person who runs this server has switched it off'),
  FILTER_INVALID: row('STATE', 'no', 'invalid_input', 'Use RE2 syntax: no look-around, no back-references'),
  PATH_DENIED: row('STATE', 'no', 'not_permitted', 'Use a local path below the allowed roots'),
  IDEMPOTENCY_KEY_MISMATCH: row('STATE', 'no', 'conflict', 'Use a new key for a new call'),
  IDEMPOTENCY_KEY_TOO_LONG: row('STATE', 'no', 'invalid_input', 'Use a key of at most 256 bytes'),
  INVALID_OP: row('STATE', 'no', 'unknown_operation', 'See the list of operations'),
  RESUME_OVERSHOOT: row('STATE', 'no', 'conflict', 'Remove the destination, or transfer without resume'),
  RESUME_MISMATCH: row('STATE', 'no', 'conflict', 'Remove the destination, or transfer without resume'),
  STORAGE_ERROR: row('INTERNAL', 'no', 'internal', 'Try once more; then report it with the log of the server'),
  INTERNAL_ERROR: row('INTERNAL', 'no', 'internal', 'Try once more; then report it with the log of the server'),
  LIFECYCLE_STATE_CONFLICT: row('INTERNAL', 'no', 'internal', 'Report it with the log of the server'),
  SESSION_REFCOUNT_UNDERFLOW: row('INTERNAL', 'no', 'internal', 'Report it with the log of the server'),
} as const;

type RemoteCode = keyof typeof remoteErrors;

interface RemoteExtras {
  /** What the call was about: `limit=10`, the id. */
  readonly context?: string | undefined;
  /** Ids that look like the one that was not found. */
  readonly closest?: readonly string[] | undefined;
  readonly data?: Readonly<Record<string, unknown>> | undefined;
  readonly cause?: unknown;
}

/** An error with a code of the remote reference, and its row in the table of all errors. */
export function remoteError(code: RemoteCode, reason: string, extras: RemoteExtras = {}): FairleadError {
  const { error, cure } = remoteErrors[code];
  const { context, closest = [], data, cause } = extras;
  return new FairleadError(error, reason, {
    hint: `${cure}.`,
    data: {
      ...data,
      wire: code,
      ...(context === undefined ? {} : { context }),
      ...(closest.length > 0 && { closest }),
    },
    ...(cause === undefined ? {} : { cause }),
  });
}

/** The code of the remote reference that stands for an error of any origin. */
export function remoteCode(error: FairleadError): RemoteCode {
  const wire = error.data?.['wire'];
  if (typeof wire === 'string' && Object.hasOwn(remoteErrors, wire)) return wire as RemoteCode;
  return byError[error.code] ?? 'INTERNAL_ERROR';
}

const byError: Partial<Record<ErrorCode, RemoteCode>> = {
  invalid_input: 'INVALID_ARGUMENT',
  unknown_operation: 'INVALID_OP',
  too_large: 'INVALID_ARGUMENT',
  conflict: 'INVALID_ARGUMENT',
  not_authenticated: 'AUTH_FAILED',
  needs_person: 'AUTH_FAILED',
  not_permitted: 'POLICY_BLOCKED',
  needs_approval: 'POLICY_BLOCKED',
  revoked: 'POLICY_BLOCKED',
  hold_dropped: 'POLICY_BLOCKED',
  held: 'MUX_BACKPRESSURE',
  hold_queue_full: 'MUX_BACKPRESSURE',
  unsupported: 'FEATURE_DISABLED',
  not_found: 'RESOURCE_GONE',
  terminal_not_found: 'SHELL_NOT_FOUND',
  terminal_exited: 'WRITE_FAILED',
  limit_reached: 'MUX_BACKPRESSURE',
  timeout: 'TIMEOUT',
  cancelled: 'TIMEOUT',
  unavailable: 'TRANSPORT_ERROR',
  internal: 'INTERNAL_ERROR',
};
