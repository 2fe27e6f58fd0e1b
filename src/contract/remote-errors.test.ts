import { expect, test } from 'vitest';
import { errorTable } from './errors.ts';
import { remoteErrors } from './remote-errors.ts';

/** docs/requirements/remote.md 2.1 and 2.2, row by row. */
const spec: Readonly<Record<string, string>> = {
  'AUTH no': 'AUTH_FAILED AUTH_KEY_PARSE HOST_KEY_UNKNOWN HOST_KEY_MISMATCH',
  'TRANSPORT yes':
    'CONNECTION_FAILED CONNECTION_TIMEOUT TRANSPORT_ERROR RSYNC_PROTOCOL_ERROR RSYNC_PARTIAL_TRANSFER ' +
    'WRITE_FAILED CHANNEL_FAILED COMMAND_FAILED FORWARD_FAILED TIMEOUT SERIAL_ERROR',
  'REMOTE judge': 'SFTP_ERROR REMOTE_CMD_FAILED LOCAL_FILE_ERROR LOCAL_NOT_FILE SFTP_OPEN_FAILED REMOTE_METADATA_ERROR',
  'RESOURCE no':
    'SESSION_NOT_FOUND SHELL_NOT_FOUND COMMAND_NOT_FOUND TRANSFER_NOT_FOUND FORWARD_NOT_FOUND RESOURCE_GONE ' +
    'SUB_NOT_FOUND GRACE_TIMER_EXPIRED RSYNC_NOT_FOUND SERIAL_NOT_FOUND',
  'POLICY cond':
    'MAX_SESSIONS_EXCEEDED MAX_SHELLS_EXCEEDED MAX_COMMANDS_EXCEEDED MAX_TRANSFERS_EXCEEDED ' +
    'MAX_SUBS_PER_URI_EXCEEDED MAX_SUBS_TOTAL_EXCEEDED LANE_LIMIT_PER_URI LANE_LIMIT_TOTAL LANE_BUFFER_FULL ' +
    'MUX_BACKPRESSURE LAG_BACKPRESSURE PORT_IN_USE SERIAL_BACKPRESSURE RSYNC_VERSION_TOO_OLD ' +
    'RSYNC_FILE_LIST_TOO_LARGE SFTP_FEATURE_MISSING ' +
    // Ours: docs/decisions/0016.
    'POLICY_BLOCKED',
  'POLICY recover': 'LAG_DETECTED RING_BUFFER_OVERFLOW',
  'POLICY warn': 'SUB_LEAK_RISK',
  'STATE no':
    'INVALID_ARGUMENT INVALID_REPEAT INVALID_LIFETIME INVALID_LAG_POLICY EMPTY_PATTERNS TOO_MANY_PATTERNS ' +
    'PATTERN_TOO_LONG MODIFIER_NOT_ALLOWED FEATURE_DISABLED FILTER_INVALID PATH_DENIED IDEMPOTENCY_KEY_MISMATCH ' +
    'IDEMPOTENCY_KEY_TOO_LONG INVALID_OP RESUME_OVERSHOOT RESUME_MISMATCH',
  'INTERNAL no': 'STORAGE_ERROR INTERNAL_ERROR LIFECYCLE_STATE_CONFLICT SESSION_REFCOUNT_UNDERFLOW',
};

test('section 2: every code has its category and retry word, and there are no others', () => {
  const wanted = Object.entries(spec).flatMap(([row, codes]) => codes.split(' ').map((code) => `${code} ${row}`));
  const ours = Object.entries(remoteErrors).map(([code, { category, retry }]) => `${code} ${category} ${retry}`);
  expect(ours.toSorted()).toEqual(wanted.toSorted());
});

test.each(Object.entries(remoteErrors))('section 2: the cure of %s is one short sentence', (_, { cure, error }) => {
  expect(cure).toMatch(/^[A-Z].{5,118}[^.; ]$/);
  expect(Object.keys(errorTable)).toContain(error);
});
