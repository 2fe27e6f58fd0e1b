import type { Terminal } from '../../terminal/terminal.ts';
import type { Attention } from './prompt.ts';

export { type Attention, type AttentionKind, attentionKinds } from './prompt.ts';

/** What the program in the terminal waits for, by what it shows. Call it after `terminal.sync()`. */
export function attentionOf(terminal: Terminal): Attention | undefined {
  return terminal.attention.current ?? terminal.attention.look();
}

/** Calls back when a program begins to wait for an answer, at once when it does already. */
export function whenAttention(terminal: Terminal, found: (attention: Attention) => void): Disposable {
  const seen = (attention: Attention | undefined): void => {
    if (attention) found(attention);
  };
  seen(terminal.attention.current);
  return terminal.attention.changed.on(seen);
}
