import { expect, test } from 'vitest';
import { readSshSettings, shown, sshVariables, unusedSshVariables } from './ssh-settings.ts';

function read(env: Record<string, string>) {
  const warnings: string[] = [];
  return { values: readSshSettings(env, (line) => warnings.push(line)), warnings };
}

test('section 6: defaults', () => {
  expect(read({ SSH_CONNECTION: '10.0.0.1 50000 10.0.0.2 22', SSH_MAX_RETRIES: '' })).toEqual({
    warnings: [],
    values: {
      connectTimeoutMs: 30_000,
      commandTimeoutMs: 180_000,
      maxRetries: 3,
      retryDelayMs: 1000,
      inactivityTimeoutMs: 300_000,
      compression: false,
      commandCleanupMs: 60_000,
      commandBufferBytes: 10_485_760,
      shellInactivityMs: 600_000,
      shellBufferBytes: 10_485_760,
      outputDefaultBytes: 16_384,
      outputMaxBytes: 1_048_576,
      listDefaultItems: 500,
      listMaxItems: 10_000,
      initialPeekMs: 100,
      initialBufferBytes: 4096,
      maxSessions: 64,
      idempotencyTtlMs: 300_000,
      idempotencyMaxEntries: 1024,
      hostKeyPolicy: 'accept-new',
      streams: {
        debounceMs: 200,
        forceFlushMs: 1000,
        flushBytes: 65_536,
        keepaliveMs: 30_000,
        laneBuffer: 1024,
        maxSubsPerUri: 16,
        maxSubsTotal: 1024,
        lagPolicy: 'snapshot',
        blockMs: 5000,
        filterMax: 1024,
        replayBytes: 1_048_576,
        leakWarnMs: 2000,
        leakKillMs: 0,
        readBytes: 1_048_576,
      },
    },
  });
});

test.each([
  ['SSH_CONNECT_TIMEOUT', '5', 'connectTimeoutMs', 5000],
  ['SSH_COMMAND_TIMEOUT', ' 7 ', 'commandTimeoutMs', 7000],
  ['SSH_MAX_RETRIES', '0', 'maxRetries', 0],
  ['SSH_RETRY_DELAY_MS', '20', 'retryDelayMs', 20],
  ['SSH_INACTIVITY_TIMEOUT', '0', 'inactivityTimeoutMs', 0],
  ['SSH_COMPRESSION', 'YES', 'compression', true],
  ['SSH_COMPRESSION', 'True', 'compression', true],
  ['SSH_COMPRESSION', '1', 'compression', true],
  ['SSH_COMPRESSION', 'No', 'compression', false],
  ['SSH_COMPRESSION', 'FALSE', 'compression', false],
  ['SSH_COMPRESSION', '0', 'compression', false],
  ['SSH_COMMAND_CLEANUP_TTL', '1', 'commandCleanupMs', 1000],
  ['SSH_COMMAND_MAX_BUFFER_SIZE', '8192', 'commandBufferBytes', 8192],
  ['SSH_COMMAND_MAX_BUFFER_SIZE', '5000b', 'commandBufferBytes', 5000],
  ['SSH_COMMAND_MAX_BUFFER_SIZE', '64k', 'commandBufferBytes', 65_536],
  ['SSH_COMMAND_MAX_BUFFER_SIZE', '64KB', 'commandBufferBytes', 65_536],
  ['SSH_COMMAND_MAX_BUFFER_SIZE', '64 KiB', 'commandBufferBytes', 65_536],
  ['SSH_SHELL_MAX_BUFFER_SIZE', '2m', 'shellBufferBytes', 2_097_152],
  ['SSH_SHELL_MAX_BUFFER_SIZE', '1g', 'shellBufferBytes', 1_073_741_824],
  ['SSH_SHELL_INACTIVITY_TTL', '9', 'shellInactivityMs', 9000],
  ['SSH_SHELL_OPEN_INITIAL_PEEK_MS', '0', 'initialPeekMs', 0],
  ['SSH_SHELL_OPEN_INITIAL_BUFFER_MAX_BYTES', '1k', 'initialBufferBytes', 1024],
  ['SSH_MCP_OUTPUT_DEFAULT_BYTES', '100', 'outputDefaultBytes', 100],
  ['SSH_MCP_LIST_MAX_ITEMS', '7', 'listDefaultItems', 7],
  ['SSH_MAX_SESSIONS', '2', 'maxSessions', 2],
  ['SSH_IDEMPOTENCY_TTL_SECS', '1', 'idempotencyTtlMs', 1000],
  ['SSH_IDEMPOTENCY_MAX_ENTRIES', '5', 'idempotencyMaxEntries', 5],
  ['SSH_HOST_KEY_POLICY', 'strict', 'hostKeyPolicy', 'strict'],
  ['SSH_HOST_KEY_POLICY', 'off', 'hostKeyPolicy', 'off'],
])('section 6: %s=%s', (name, text, field, value) => {
  expect(read({ [name]: text })).toMatchObject({ warnings: [], values: { [field]: value } });
});

test.each([
  ['SSH_CONNECT_TIMEOUT', '0', 'connectTimeoutMs', 1000, 'SSH_CONNECT_TIMEOUT: 0 is less than 1; 1 is used'],
  [
    'SSH_CONNECT_TIMEOUT',
    '9999999999',
    'connectTimeoutMs',
    2_147_483_000,
    'SSH_CONNECT_TIMEOUT: 9999999999 is more than 2147483; 2147483 is used',
  ],
  ['SSH_MAX_RETRIES', '99', 'maxRetries', 20, 'SSH_MAX_RETRIES: 99 is more than 20; 20 is used'],
  ['SSH_MAX_RETRIES', '-1', 'maxRetries', 0, 'SSH_MAX_RETRIES: -1 is less than 0; 0 is used'],
  ['SSH_MAX_RETRIES', 'many', 'maxRetries', 3, 'SSH_MAX_RETRIES: "many" is not a whole number; 3 is used'],
  ['SSH_MAX_RETRIES', '2k', 'maxRetries', 3, 'SSH_MAX_RETRIES: "2k" is not a whole number; 3 is used'],
  ['SSH_MAX_RETRIES', '1.5', 'maxRetries', 3, 'SSH_MAX_RETRIES: "1.5" is not a whole number; 3 is used'],
  [
    'SSH_RETRY_DELAY_MS',
    '60000',
    'retryDelayMs',
    10_000,
    'SSH_RETRY_DELAY_MS: 60000 is more than 10000; 10000 is used',
  ],
  ['SSH_COMPRESSION', 'on', 'compression', false, 'SSH_COMPRESSION: "on" is not true or false; false is used'],
  [
    'SSH_COMMAND_MAX_BUFFER_SIZE',
    '1',
    'commandBufferBytes',
    4096,
    'SSH_COMMAND_MAX_BUFFER_SIZE: 1 is less than 4096; 4096 is used',
  ],
  [
    'SSH_COMMAND_MAX_BUFFER_SIZE',
    '1t',
    'commandBufferBytes',
    1_073_741_824,
    'SSH_COMMAND_MAX_BUFFER_SIZE: 1t is more than 1073741824; 1073741824 is used',
  ],
  [
    'SSH_COMMAND_MAX_BUFFER_SIZE',
    'big',
    'commandBufferBytes',
    10_485_760,
    'SSH_COMMAND_MAX_BUFFER_SIZE: "big" is not a size such as 64k; 10m is used',
  ],
  [
    'SSH_IDEMPOTENCY_TTL_SECS',
    'x',
    'idempotencyTtlMs',
    300_000,
    'SSH_IDEMPOTENCY_TTL_SECS: "x" is not a whole number; 300 is used',
  ],
  ['SSH_MAX_SESSIONS', '10001', 'maxSessions', 10_000, 'SSH_MAX_SESSIONS: 10001 is more than 10000; 10000 is used'],
  [
    'SSH_HOST_KEY_POLICY',
    'stritc',
    'hostKeyPolicy',
    'strict',
    'SSH_HOST_KEY_POLICY: "stritc" is not strict, ask, accept-new or off; strict is used',
  ],
])('section 6: %s=%s is mended, with one warning', (name, text, field, value, warning) => {
  expect(read({ [name]: text })).toMatchObject({ warnings: [warning], values: { [field]: value } });
});

test('a name of ours wins over that of the reference, and is named in its warning', () => {
  expect(read({ SSH_MAX_RETRIES: '1', FAIRLEAD_SSH_MAX_RETRIES: '2' }).values.maxRetries).toBe(2);
  expect(read({ SSH_MAX_RETRIES: '1', FAIRLEAD_SSH_MAX_RETRIES: 'x' }).warnings).toEqual([
    'FAIRLEAD_SSH_MAX_RETRIES: "x" is not a whole number; 3 is used',
  ]);
});

test('what is given when a call does not say is never more than a call may ask for', () => {
  expect(read({ SSH_MCP_OUTPUT_MAX_BYTES_CAP: '100', SSH_MCP_LIST_MAX_ITEMS_CAP: '5' }).values).toMatchObject({
    outputDefaultBytes: 100,
    listDefaultItems: 5,
  });
});

test('a long value is not repeated whole', () => {
  expect(read({ SSH_MAX_RETRIES: 'x'.repeat(1000) }).warnings[0]?.length).toBeLessThan(120);
});

test.each([
  ['SSH_NOTIFY_DEBOUNCE_MS', '4', { debounceMs: 5 }, 'SSH_NOTIFY_DEBOUNCE_MS: 4 is less than 5; 5 is used'],
  ['SSH_NOTIFY_FORCE_FLUSH_MS', '100', { forceFlushMs: 100 }],
  ['SSH_NOTIFY_KEEPALIVE_S', '300', { keepaliveMs: 300_000 }],
  [
    'SSH_NOTIFY_KEEPALIVE_S',
    '301',
    { keepaliveMs: 300_000 },
    'SSH_NOTIFY_KEEPALIVE_S: 301 is more than 300; 300 is used',
  ],
  ['SSH_NOTIFY_FLUSH_BYTES', '0', { flushBytes: 0 }],
  ['SSH_NOTIFY_FLUSH_BYTES', '1', { flushBytes: 1024 }, 'SSH_NOTIFY_FLUSH_BYTES: 1 is less than 1024; 1024 is used'],
  ['SSH_LANE_BUFFER', '15', { laneBuffer: 16 }, 'SSH_LANE_BUFFER: 15 is less than 16; 16 is used'],
  ['SSH_MAX_SUBS_PER_URI', '1', { maxSubsPerUri: 1 }],
  ['SSH_MAX_SUBS_TOTAL', '65535', { maxSubsTotal: 65_535 }],
  ['SSH_LAG_POLICY_DEFAULT', 'Drop_Oldest', { lagPolicy: 'drop_oldest' }],
  [
    'SSH_LAG_POLICY_DEFAULT',
    'drop',
    { lagPolicy: 'snapshot' },
    'SSH_LAG_POLICY_DEFAULT: "drop" is not one of snapshot, drop_oldest, drop_newest, block_slow; snapshot is used',
  ],
  ['SSH_BP_BLOCK_TIMEOUT_MS', '600000', { blockMs: 600_000 }],
  ['SSH_FILTER_REGEX_MAX', '16', { filterMax: 16 }],
  ['SSH_REPLAY_WINDOW_BYTES', '64m', { replayBytes: 67_108_864 }],
  ['SSH_SUB_LEAK_RISK_WARN_S', '3600', { leakWarnMs: 3_600_000 }],
  ['SSH_SUB_LEAK_RISK_KILL_S', '86400', { leakKillMs: 86_400_000 }],
  ['SSH_MCP_OUTPUT_MAX_BYTES_CAP', '100', { readBytes: 100 }],
])('section 6, streams: %s=%s', (name, text, streams, ...warnings) => {
  expect(read({ [name]: text })).toMatchObject({ warnings, values: { streams } });
});

test.each(unusedSshVariables.map((row) => [row.variable, row] as const))('%s is accepted', (name, row) => {
  expect(read({ [name]: shown(row) })).toEqual(read({}));
  expect(read({ [name]: 'much' }).warnings).toEqual([`${name}: "much" is not a whole number; ${shown(row)} is used`]);
});

test('every default reads back as itself', () => {
  for (const [field, row] of sshVariables) {
    const { values, warnings } = read({ [row.variable]: shown(row) });
    expect([row.variable, { ...values.streams, ...values }[field], warnings]).toEqual([row.variable, row.default, []]);
  }
});
