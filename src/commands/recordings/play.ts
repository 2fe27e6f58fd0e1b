import { playCast } from '../../engine/recording/export/play.ts';
import { systemClock } from '../../system/clock.ts';
import { UsageError } from '../../faces/cli/args.ts';
import { Relay } from '../../faces/cli/relay.ts';
import type { Invocation } from '../command.ts';
import { findEither, openRecording } from './find.ts';
import { positive } from './positive.ts';

/** Plays a recording in this terminal. Ctrl+C or q ends it. */
export async function playRecording(invocation: Invocation): Promise<number> {
  const { words, flags, stdin, stdout, stderr } = invocation;
  const [wanted, extra] = words;
  if (wanted === undefined) throw new UsageError('Say what to play: an id, the beginning of one, or a path.');
  if (extra !== undefined) throw new UsageError(`One recording at a time; "${extra}" is too much.`);
  const speed = positive(flags.get('speed') ?? '1', '--speed');
  const idleLimit = positive(flags.get('idle-limit') ?? '0', '--idle-limit', 0);
  const from = positive(flags.get('from') ?? '0', '--from', 0);
  const cast = await openRecording(invocation, await findEither(invocation, wanted));
  const { cols, rows } = cast.info.size;
  if (stdout.isTTY && (stdout.columns < cols || stdout.rows < rows)) {
    stderr.write(
      `This terminal is ${stdout.columns}x${stdout.rows}; the recording is ${cols}x${rows} and may look broken.\n`,
    );
  }
  const ending = new AbortController();
  const end = (): void => ending.abort();
  process.once('SIGINT', end);
  const keys = (bytes: Buffer): void => {
    if (bytes.includes(3) || bytes.includes(0x71)) end();
  };
  if (stdin.isTTY) stdin.setRawMode(true).on('data', keys);
  // A recording is untrusted: it may draw on this terminal and nothing else.
  const relay = new Relay();
  if (stdout.isTTY) stdout.write(relay.start);
  try {
    for await (const text of playCast(cast.events, {
      clock: systemClock,
      signal: ending.signal,
      speed,
      idleLimit,
      from,
    })) {
      if (!stdout.write(relay.pass(Buffer.from(text)))) await new Promise((resolve) => stdout.once('drain', resolve));
    }
  } finally {
    if (stdin.isTTY) stdin.off('data', keys).setRawMode(false).pause();
    if (stdout.isTTY) stdout.write(`${relay.undo()}\n`);
    process.off('SIGINT', end);
  }
  return 0;
}
