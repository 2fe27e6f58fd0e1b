import { ByteQueue } from '../../../src/lib/byte-queue.ts';
import type { SshProcess } from '../../../src/transports/ssh/link/link.ts';
import { ptyDriver } from '../../../src/transports/local/index.ts';

/** What sshd does with a command and a terminal, on this machine and without SSH: the login shell gets it with `-c`. */
export async function farShell(
  command: readonly [string, ...string[]],
  env: Readonly<Record<string, string>>,
): Promise<SshProcess> {
  const channel = await ptyDriver().open(
    {
      argv: command,
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', TERM: 'xterm-256color', ...env },
      cwd: env['HOME'] ?? '/',
    },
    { cols: 120, rows: 30 },
    AbortSignal.timeout(20_000),
  );
  // A chunk of SSH belongs to its reader for good, one of a PTY does not.
  const stdout = new ByteQueue(1 << 20);
  const end = (): void => stdout.end();
  channel.output.consume((chunk) => void stdout.push(chunk.slice())).then(end, end);
  const stderr = new ByteQueue(1);
  stderr.end();
  return {
    output: (async function* () {})(),
    stdout,
    stderr,
    ended: channel.ended,
    write: (bytes) => channel.write(bytes),
    end: () => {},
    signal: () => {},
    resize: () => {},
    [Symbol.asyncDispose]: () => channel[Symbol.asyncDispose](),
  };
}
