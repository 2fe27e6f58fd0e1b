import { expect, test } from 'vitest';
import { foldBooks } from '../../faces/mcp/tools.ts';
import { sshBook } from './index.ts';

const { tools } = foldBooks([sshBook], () => Promise.reject(new Error('not called')), { readOnly: false }).list();

/** The defaults that the reference prints, and docs/requirements/remote.md section 6 where it decides otherwise (compress). */
const documented = {
  ssh_connect: {
    timeout_secs: 30,
    max_retries: 3,
    retry_delay_ms: 1000,
    compress: false,
    persistent: false,
    reuse: 'suggest',
  },
  ssh_disconnect: {},
  ssh_sessions: { max_items: 500 },
  ssh_disconnect_agent: {},
  ssh_disconnect_many: {},
  ssh_exec: { timeout_secs: 180, pty: false, release_when_no_subs: false, grace_ms: 2000 },
  ssh_exec_output: { wait: false, wait_timeout_secs: 30, max_output_bytes: 16_384 },
  ssh_commands: { max_items: 500 },
  ssh_exec_cancel: { max_output_bytes: 16_384 },
  ssh_run: { pty: false, timeout_secs: 30, max_output_bytes: 16_384, disconnect_after: true },
  ssh_exec_batch: {
    stop_on_failure: true,
    timeout_secs_per_command: 30,
    max_output_bytes_per_command: 16_384,
    pty: false,
  },
  ssh_shell_open: {
    term: 'xterm',
    cols: 80,
    rows: 24,
    inactivity_ttl: 600,
    max_buffer_size: '10m',
    release_when_no_subs: false,
    grace_ms: 2000,
  },
  ssh_shell_write: {},
  ssh_shell_press: { shift: false, alt: false, ctrl: false, repeat: 1 },
  ssh_shell_read: { clear: true, max_output_bytes: 16_384, wait: false, wait_timeout_secs: 30, min_bytes: 1 },
  ssh_shell_wait_for: { timeout_secs: 30, max_output_bytes: 16_384, clear: true },
  ssh_shell_close: {},
};

test('documented defaults stand in the input schemas, those that are false too, and no field with one is required', () => {
  const published = tools.map(({ name, inputSchema }) => {
    const fields = Object.entries(inputSchema.properties ?? {}) as [string, { readonly default?: unknown }][];
    const known = fields.filter(([, field]) => 'default' in field);
    expect(known.filter(([field]) => inputSchema.required?.includes(field))).toEqual([]);
    return [name, Object.fromEntries(known.map(([field, schema]) => [field, schema.default]))];
  });
  expect(Object.fromEntries(published)).toEqual(documented);
});

test('every description ends with one line that tells the cost: growth, latency, blocking or not', () => {
  for (const { name, description = '' } of tools) expect(description, name).toMatch(/[^\n]\nCost: O\(.+\)[^\n]+\.$/);
});
