import { expect } from 'vitest';
import { open, waitFor, write } from '../../../src/operations/remote/shells.ts';
import type { Remote } from './remote.ts';

/** A shell at a prompt of our own, with nothing unread; its id. */
export async function shell(
  at: Remote,
  session_id: string,
  options: { readonly max_buffer_size?: string; readonly inactivity_ttl?: number } = {},
): Promise<string> {
  const { shell_id = '' } = await at.run(open, { session_id, ...options });
  await at.run(write, { shell_id, input: "bind 'set enable-bracketed-paste off'; PS1='ready\\$ '; stty -echo\n" });
  await at.run(write, { shell_id, input: 'echo be""gin\n' });
  const found = await at.run(waitFor, { shell_id, patterns: ['begin\r\nready$ '], timeout_secs: 20 });
  expect(found.status).toBe('matched');
  return shell_id;
}
