import { deferred } from '../../lib/deferred.ts';
import { abortable } from '../settle.ts';
import type { Terminal } from '../terminal.ts';
import type { Attention } from './attention.ts';

export { type Attention, type AttentionKind, attentionKinds } from './attention.ts';

/** Whether the terminal waits for a person, by what it shows. Call it after `terminal.sync()`. */
export function attentionOf(terminal: Terminal): Attention | undefined {
  return terminal.attention.current ?? terminal.attention.look();
}

/** Resolves when the terminal begins to wait for a person, at once when it does already. Rejects when aborted. */
export async function watchAttention(terminal: Terminal, signal: AbortSignal): Promise<Attention> {
  const begun = deferred<Attention>();
  const seen = (attention: Attention | undefined): void => {
    if (attention) begun.resolve(attention);
  };
  using _changed = terminal.attention.changed.on(seen);
  seen(terminal.attention.current);
  return await abortable(begun.promise, signal);
}
