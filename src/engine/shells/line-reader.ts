import { editsLine } from './input-mode.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { nesting } from './carriers.ts';
import { type Dialect, traitsOf, isShell } from './traits.ts';
import { cursorLine, looksLikePrompt, looksLikeShellPrompt } from './prompt-line.ts';
import { takesCommands } from './shell-process.ts';

/** A program without marks that waits at its prompt for a line. */
export type LineReader =
  | { readonly kind: 'shell'; readonly dialect: Dialect; readonly longLines: boolean; readonly prompt: string }
  | { readonly kind: 'program'; readonly name: string; readonly prompt: string };

/**
 * A nested or unmarked shell, or another program that reads lines; undefined while neither seems ready. `isPrompt` knows
 * prompts that do not look like one. Call it after `terminal.sync()`.
 */
export function lineReader(
  terminal: Terminal,
  isPrompt: (line: string) => boolean = () => false,
): LineReader | undefined {
  if (terminal.screen.alternate) return undefined;
  const { process } = terminal;
  const foreground = process?.foreground();
  const name = foreground?.name ?? '';
  const prompt = cursorLine(terminal);
  // Line editors read character by character and echo themselves; a command they run finds the terminal in canonical mode.
  const editing = prompt !== '' && editsLine(terminal);
  const { dialect, hasLineEditor = false } = traitsOf(name) ?? {};
  if (foreground !== undefined && dialect !== undefined) {
    if (!isPrompt(prompt) && !takesCommands(foreground, editing)) return undefined;
    const untouched = terminal.input.last === undefined && foreground.isLeader && prompt !== '';
    if (!editing && !isPrompt(prompt) && !untouched && !looksLikePrompt(prompt)) return undefined;
    return { kind: 'shell', dialect, longLines: hasLineEditor, prompt };
  }
  if ((process === undefined || nesting.has(name)) && looksLikeShellPrompt(prompt)) {
    return { kind: 'shell', dialect: 'posix', longLines: false, prompt };
  }
  if (!looksLikePrompt(prompt) || looksLikeShellPrompt(prompt)) return undefined;
  return { kind: 'program', name, prompt };
}

/** Whether a shell or a program seems ready to read a command. Call it after `terminal.sync()`. */
export const promptShows = (terminal: Terminal): boolean =>
  (terminal.blocks.marked && terminal.blocks.promptAt !== undefined) || lineReader(terminal) !== undefined;

/** The same for shells only, in a terminal that was opened with one: a debugger or an interpreter in it is no shell. */
export function shellPromptShows(terminal: Terminal): boolean {
  const { blocks, identity } = terminal;
  if (blocks.marked && blocks.promptAt !== undefined) return true;
  const reader = lineReader(terminal);
  const hasShell = blocks.marked || isShell(identity.program.slice(identity.program.lastIndexOf('/') + 1));
  return reader !== undefined && (reader.kind !== 'program' || !hasShell);
}
