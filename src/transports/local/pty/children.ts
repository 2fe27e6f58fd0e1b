import type { Ended } from '../../../engine/terminal/channel.ts';
import { type Libc, WNOHANG } from './libc.ts';
import { signalName } from './signals.ts';

/**
 * Who waits for which child. Each is asked for by its own number: waiting for any child would steal the exit of
 * processes that Node itself started. The listener exists only while there are children to wait for.
 */
const waiting = new Map<number, (ended: Ended) => void>();
let libc: Libc | undefined;

/** Calls back once, never before it returns, and leaves no zombie. */
export function watchChild(calls: Libc, pid: number, onEnd: (ended: Ended) => void): void {
  libc = calls;
  if (waiting.size === 0) process.on('SIGCHLD', reapAll);
  waiting.set(pid, onEnd);
  // It may have ended before the listener was there.
  queueMicrotask(() => reap(pid));
}

/** Another process will wait for it. */
export function forgetChild(pid: number): void {
  if (waiting.delete(pid) && waiting.size === 0) process.off('SIGCHLD', reapAll);
}

function reapAll(): void {
  for (const pid of waiting.keys()) reap(pid);
}

const status = new Int32Array(1);

function reap(pid: number): void {
  const onEnd = waiting.get(pid);
  if (onEnd === undefined || libc === undefined) return;
  const reaped = libc.waitpid(pid, status, WNOHANG);
  if (reaped === 0) return;
  waiting.delete(pid);
  if (waiting.size === 0) process.off('SIGCHLD', reapAll);
  onEnd(reaped === pid ? decode(status[0] ?? 0) : { by: 'lost', reason: `Process ${pid} was reaped by someone else.` });
}

function decode(word: number): Ended {
  const signal = word & 0x7f;
  return signal === 0 ? { by: 'exit', code: (word >> 8) & 0xff } : { by: 'signal', signal: signalName(signal) };
}
