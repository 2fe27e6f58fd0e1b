import { execFile } from 'node:child_process';
import { onAbort } from './on-abort.ts';
import { timeLimit } from './time-limit.ts';

interface RunProgramOptions {
  /** Variables of the program; those of this process if left out. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** After this time the program is killed. */
  readonly limitMs: number;
  /** A program that prints more is killed. */
  readonly mostBytes?: number;
}

interface ProgramRun {
  /** It ended in time with exit code 0. */
  readonly ok: boolean;
  /** The time was up. */
  readonly late: boolean;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

const never = new AbortController().signal;
const failed: ProgramRun = { ok: false, late: false, stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };

/**
 * Runs a program of this machine, without input. Rejects when the signal is aborted, and when the program cannot be named at all. Every
 * program that a call waits for is started here: the `signal` of `execFile` is not safe.
 */
export async function runProgram(
  program: string,
  args: readonly string[],
  { env, signal = never, limitMs, mostBytes = 1 << 20 }: RunProgramOptions,
): Promise<ProgramRun> {
  signal.throwIfAborted();
  using limit = timeLimit(signal, limitMs);
  return await new Promise((resolve, reject) => {
    const options = {
      encoding: 'buffer',
      maxBuffer: mostBytes,
      windowsHide: true,
      ...(env && { env: { ...env } }),
    } as const;
    const child = execFile(program, [...args], options, (error, stdout, stderr) => {
      listening[Symbol.dispose]();
      resolve({ ok: error === null, late: false, stdout, stderr });
    });
    child.stdin?.end();
    const listening = onAbort(limit.signal, () => {
      // A program that is not there has no process, and Node would signal process 0: the whole process group of this server. KILL,
      // because a program that hangs may ignore TERM.
      if (child.pid !== undefined) child.kill('SIGKILL');
      if (signal.aborted) reject(signal.reason as Error);
      else resolve({ ...failed, late: true });
    });
  });
}
