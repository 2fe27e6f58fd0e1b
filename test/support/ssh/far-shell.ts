import { stdoutOnly } from '../../../src/transports/ssh/link/arrivals.ts';
import type { SshProcess } from '../../../src/transports/ssh/link/link.ts';
import { localTransport } from '../../../src/transports/local/index.ts';

/** What sshd does with a command and a terminal, on this machine and without SSH: the login shell gets it with `-c`. */
export async function farShell(
  command: readonly [string, ...string[]],
  env: Readonly<Record<string, string>>,
): Promise<SshProcess> {
  const channel = await localTransport().open(
    {
      argv: command,
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', TERM: 'xterm-256color', ...env },
      cwd: env['HOME'] ?? '/',
    },
    { cols: 120, rows: 30 },
    AbortSignal.timeout(20_000),
  );
  return {
    output: stdoutOnly(channel.output),
    stdout: channel.output,
    stderr: (async function* () {})(),
    ended: channel.ended,
    write: (bytes) => channel.write(bytes),
    end: () => {},
    signal: () => {},
    resize: () => {},
    [Symbol.asyncDispose]: () => channel[Symbol.asyncDispose](),
  };
}
