import { expect } from 'vitest';
import { execOutput, exec } from '../../src/operations/remote/commands.ts';
import { connect } from '../../src/operations/remote/sessions.ts';
import { type Answer, type AskOptions, masked, type Remote } from './remote.ts';
import type { Sshd } from './sshd.ts';

/** A new session for this server. */
export async function session(
  at: Remote,
  sshd: Sshd,
  changes: { readonly agent_id?: string; readonly key_path?: string } = {},
  options: AskOptions = {},
): Promise<string> {
  const input = { address: sshd.address, username: sshd.user, key_path: sshd.keyPath, reuse: 'force_new' as const };
  const { session_id } = await at.run(connect, { ...input, ...changes }, options);
  return session_id as string;
}

/** Starts a command; its id. */
export async function started(
  at: Remote,
  session_id: string,
  command: string,
  options: { readonly pty?: boolean; readonly timeout_secs?: number } = {},
): Promise<string> {
  const { command_id } = await at.run(exec, { session_id, command, ...options });
  return command_id;
}

/** Runs it to its end: what ssh_exec_output says then. */
export async function ended(
  at: Remote,
  command_id: string,
  input: Readonly<Record<string, unknown>> = {},
): Promise<Answer> {
  return await at.ask(execOutput, { command_id, wait: true, wait_timeout_secs: 60, ...input });
}

/** Waits until a running command has printed this. */
export async function printed(at: Remote, command_id: string, text: string): Promise<void> {
  await expect
    .poll(async () => (await at.run(execOutput, { command_id })).stdout, { timeout: 20_000, interval: 10 })
    .toContain(text);
}

/** Text with ids, times and fences replaced. */
export const plain = (text: string): string => masked(text).replaceAll(/(?<=^--- \w+ )\[[0-9a-f]{8}\]/gm, '[<nonce>]');
