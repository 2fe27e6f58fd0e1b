import { FairleadError } from '../../contract/errors.ts';
import type { Channel, Size } from '../../engine/terminal/channel.ts';
import { abortable } from '../../system/abortable.ts';
import type { LocalTarget } from './target.ts';

export type { LocalTarget } from './target.ts';

type Open = (target: LocalTarget, size: Size) => Channel;

/** Starts programs on this machine, each on a pseudo-terminal of its own. */
interface PtyDriver {
  open(target: LocalTarget, size: Size, signal: AbortSignal): Promise<Channel>;
}

export function ptyDriver(): PtyDriver {
  let loading: Promise<Open> | undefined;
  return {
    open: async (target, size, signal) => {
      loading ??= load();
      const open = await loading;
      // No wait from here on: a terminal is never started for a caller that has hung up.
      if (signal.aborted)
        throw new FairleadError('cancelled', 'The terminal was no longer wanted.', { cause: signal.reason });
      return open(target, size);
    },
  };
}

/** Why no program of this machine can have a terminal; undefined when it can. */
export async function missingDriver(loads: () => Promise<unknown> = load): Promise<string | undefined> {
  try {
    await loads();
    return undefined;
  } catch (thrown) {
    return thrown instanceof FairleadError ? thrown.message : 'No pseudo-terminal driver loads.';
  }
}

/** Runs `true` on a terminal of its own: why that failed, or undefined. */
export async function runsTrue(signal: AbortSignal, argv: LocalTarget['argv'] = ['true']): Promise<string | undefined> {
  const target = { argv, env: { PATH: process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin' } };
  try {
    await using channel = await ptyDriver().open(target, { cols: 80, rows: 24 }, signal);
    const reading = (async () => {
      // Whatever it prints is taken, so that it can end.
      for await (const _ of channel.output);
    })();
    const ended = await abortable(channel.ended, signal);
    await reading;
    if (ended.by === 'exit' && ended.code === 0) return undefined;
    return `\`${argv.join(' ')}\` on a terminal ended otherwise than with exit code 0.`;
  } catch (thrown) {
    return `\`${argv.join(' ')}\` did not run on a terminal: ${(thrown as Error).message}`;
  }
}

async function load(): Promise<Open> {
  const reasons: unknown[] = [];
  if (process.platform === 'linux') {
    try {
      return await linuxPty();
    } catch (thrown) {
      reasons.push(thrown);
    }
  }
  try {
    return await portablePty();
  } catch (thrown) {
    reasons.push(thrown);
  }
  throw new FairleadError('unsupported', `No pseudo-terminal driver loads on ${process.platform} ${process.arch}.`, {
    hint: 'Install again without --omit=optional, on the machine and for the system it runs on.',
    cause: new AggregateError(reasons),
  });
}

/** The driver of choice on Linux; exported for the tests that run every driver. */
export async function linuxPty(): Promise<Open> {
  const [{ loadLibc }, { openLinuxPty }] = await Promise.all([import('./pty/libc.ts'), import('./pty/pty-linux.ts')]);
  const libc = await loadLibc();
  return (target, size) => openLinuxPty(libc, target, size);
}

/** The driver everywhere else. */
export async function portablePty(): Promise<Open> {
  const { loadPortablePty } = await import('./pty/pty-portable.ts');
  return loadPortablePty();
}
