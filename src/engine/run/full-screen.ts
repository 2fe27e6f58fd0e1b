import { isShell } from '../shells/traits.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { drawsKeys } from '../shells/input-mode.ts';

/** Keys that leave a program without saving anything, as a person is told them. */
const ways: Readonly<Record<string, string>> = {
  vim: 'Escape, then :q! and Enter',
  nano: 'Ctrl+X',
  emacs: 'Ctrl+X, then Ctrl+C',
  tmux: 'Ctrl+B, then d, to detach',
  screen: 'Ctrl+A, then d, to detach',
  watch: 'Ctrl+C',
};
const others: Readonly<Record<string, string>> = {
  vi: 'vim',
  view: 'vim',
  nvim: 'vim',
  'vim.basic': 'vim',
  'vim.tiny': 'vim',
};
const wayOut = (name: string): string => ways[others[name] ?? name] ?? 'q, Ctrl+C or the keys it names';

/**
 * Whether a program draws on all of the screen: it switched to the alternate one, or like `top` it draws on the usual one,
 * reads keys one by one and has the keypad send codes of its own. Call it after `terminal.sync()`.
 */
export function isFullScreen({ screen, process, blocks }: Terminal): boolean {
  if (screen.alternate) return true;
  const { applicationCursor, applicationKeypad } = screen.modes;
  // Line editors of shells switch the keypad, too, while they read.
  if (!applicationCursor || !applicationKeypad || blocks.state === 'prompt') return false;
  const draws = drawsKeys(process?.inputMode());
  if (draws === undefined) return blocks.state === 'running' && !screen.cursor.visible;
  return draws && !isShell(process?.foreground()?.name);
}

/** What it shows, without the rows that are blank. */
export const shownRows = ({ screen }: Terminal): string =>
  screen
    .text({ scope: 'viewport', wrap: 'keep' })
    .split('\n')
    .map((row) => row.trimEnd())
    .filter((row) => row !== '')
    .join('\n');

export function fullScreenNote({ process }: Terminal): string {
  const name = process?.foreground()?.name;
  return (
    `${name ?? 'A program'} has taken the whole screen; the output is that screen without its blank rows. Drive it with keys and read ` +
    `the screen again; leave it with ${wayOut(name ?? '')}.`
  );
}
