import type { Clock } from '../../../lib/clock.ts';
import type { SshLink, SshProcess } from '../link/link.ts';
import type { Slots } from '../link/slots.ts';

/** `unhealthy`: the server answers, but runs no command in time. */
export type Health = 'healthy' | 'unhealthy' | 'dead';

const probeMs = 5_000;

/** Whether a login still works: `echo 1` runs, or a server that gives no channel for it answers a keepalive. */
export async function probe(link: SshLink, slots: Slots, clock: Clock, signal: AbortSignal): Promise<Health> {
  signal.throwIfAborted();
  if (link.end !== undefined) return 'dead';
  const stop = new AbortController();
  const abort = (): void => stop.abort(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  const limit = clock.after(probeMs, () => stop.abort());
  try {
    const answers = link.ping(stop.signal).then(
      () => true,
      () => false,
    );
    const runs = await echo(slots, stop.signal);
    signal.throwIfAborted();
    if (runs === 'yes') return 'healthy';
    if (!(await answers) || link.end !== undefined) return 'dead';
    return runs === 'late' ? 'unhealthy' : 'healthy';
  } finally {
    limit[Symbol.dispose]();
    signal.removeEventListener('abort', abort);
    stop.abort();
  }
}

async function echo(slots: Slots, signal: AbortSignal): Promise<'yes' | 'refused' | 'late'> {
  let process: SshProcess | undefined;
  try {
    process = await slots.openNow((link, stop) => link.exec('echo 1', {}, stop), signal);
  } catch {
    return signal.aborted ? 'late' : 'refused';
  }
  if (process === undefined) return 'refused';
  const late = new Promise<'late'>((resolve) => {
    if (signal.aborted) resolve('late');
    else signal.addEventListener('abort', () => resolve('late'), { once: true });
  });
  const ended = process.ended.then(({ by }) => (by === 'lost' ? 'refused' : 'yes'));
  const reading = Promise.all([skip(process.stdout), skip(process.stderr)]).catch(() => {});
  const answer = await Promise.race([ended, late]);
  // A server that does not end the command may not confirm the close either, so do not wait for it.
  if (answer === 'late') slots.abandon(process);
  else await reading;
  return answer;
}

async function skip(stream: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of stream);
}
