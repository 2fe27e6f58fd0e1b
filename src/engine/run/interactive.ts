import type { Terminal } from '../terminal.ts';
import { nesting } from './place.ts';
import { cursorLine, looksLikePrompt } from './prompt-line.ts';
import { afterQuiet } from './quiet-watch.ts';
import { shells, takesCommands } from './shell-process.ts';

/** A program that waits for its user has said all it has to say by then. */
const quietMs = 400;

export interface Origin {
  /** Who read the command: the process in the foreground when it was sent. */
  readonly pid: number | undefined;
  /** Undefined for a shell with marks: it may have become another program in the same process. */
  readonly name: string | undefined;
  readonly marked: boolean;
}

export function originOf(terminal: Terminal, marked: boolean): Origin {
  const pid = Number(terminal.blocks.shell?.['pid'] ?? Number.NaN);
  // A shell at its prompt is in the foreground; asking for its name would take longer than many a command.
  if (marked && terminal.process?.pid === pid) return { pid, name: undefined, marked };
  const foreground = terminal.process?.foreground();
  return { pid: foreground?.pid, name: foreground?.name, marked };
}

/** Calls back with a sentence when the command has started something that waits for input of its own, once. */
export function watchInteractive(terminal: Terminal, origin: Origin, found: (note: string) => void): Disposable {
  const watch = afterQuiet(terminal, quietMs, async (signal) => {
    await terminal.sync(signal);
    const note = interactive(terminal, origin);
    if (note === undefined) return;
    watch[Symbol.dispose]();
    found(note);
  });
  return watch;
}

function interactive(terminal: Terminal, origin: Origin): string | undefined {
  const { process, screen } = terminal;
  const foreground = process?.foreground();
  const name = foreground?.name ?? 'a program';
  if (screen.alternate) return `${name} has taken the whole screen: read it, and send it keys.`;
  if (process === undefined || foreground === undefined || !looksLikePrompt(cursorLine(terminal))) return undefined;
  const editing = process.echo() === undefined;
  const other = foreground.pid !== origin.pid || (!origin.marked && foreground.name !== origin.name);
  // The shell that runs the command shows no prompt meanwhile; if it does, it is another one in the same process, or
  // somebody took its marks away.
  const isShell = shells.has(name) && takesCommands(foreground, editing);
  const reads = other ? editing || isShell || nesting.has(name) : origin.marked && (editing || isShell);
  return reads ? `${name} waits at a prompt of its own: run commands in it, or leave it.` : undefined;
}
