import { activityOf } from './activity.ts';
import { plainText } from '../../lib/plain-text.ts';
import type { Terminal } from './terminal.ts';

/** What the program calls itself, else what it was called when it was created, else what runs, else the shell (R-RPC-022). */
export function titleOf(terminal: Terminal): string {
  const own = clean(terminal.screen.title);
  const title = own === '' ? clean(terminal.launch.title ?? '') : own;
  return title === '' ? activityOf(terminal).foreground : title;
}

/** Without characters that would fool a reader. */
const clean = (text: string): string => plainText(text, { separator: ' ' }).text.trim();
