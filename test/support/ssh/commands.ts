import { expect } from 'vitest';
import { list } from '../../../src/operations/remote/command-list.ts';
import { execOutput, exec } from '../../../src/operations/remote/commands.ts';
import type { Answer, Remote } from './remote.ts';

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

/** Waits until a running command has printed this, on either stream. */
export async function printed(at: Remote, command_id: string, text: string): Promise<void> {
  const output = async (): Promise<string> => {
    const { stdout, stderr } = await at.run(execOutput, { command_id });
    return stdout + stderr;
  };
  await expect.poll(output, { timeout: 20_000, interval: 10 }).toContain(text);
}

/** The command that runs, once there is one. */
export async function running(at: Remote): Promise<string> {
  let id: string | undefined;
  await expect
    .poll(async () => (id = (await at.run(list, { status: 'running' })).commands[0]?.command_id), { timeout: 20_000 })
    .toBeDefined();
  return id as string;
}
