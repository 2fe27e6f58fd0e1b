import type { Terminal } from '../terminal.ts';
import type { Attention } from './attention.ts';

export { type Attention, type AttentionKind, attentionKinds } from './attention.ts';

/** Whether the terminal waits for a person, by what it shows. Call it after `terminal.sync()`. */
export function attentionOf(terminal: Terminal): Attention | undefined {
  return terminal.attention.current ?? terminal.attention.look();
}

/** Calls back when the terminal begins to wait for a person, at once when it does already. */
export function whenAttention(terminal: Terminal, found: (attention: Attention) => void): Disposable {
  const seen = (attention: Attention | undefined): void => {
    if (attention) found(attention);
  };
  seen(terminal.attention.current);
  return terminal.attention.changed.on(seen);
}
