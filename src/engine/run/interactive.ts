import type { Terminal } from '../terminal/terminal.ts';
import { nesting } from '../shells/carriers.ts';
import { traitsOf } from '../shells/traits.ts';
import { unwanted } from '../../system/abortable.ts';
import { fullScreenNote, isFullScreen } from './full-screen.ts';
import { cursorLine, looksLikePrompt } from '../shells/prompt-line.ts';
import { afterQuiet } from '../waiting/quiet-watch.ts';
import { takesCommands } from '../shells/shell-process.ts';
import { drawsKeys, editsLine } from '../shells/input-mode.ts';
import { timings } from '../waiting/timings.ts';

const { quietMs, unseenMs, drawingMs } = timings.interactive;

export interface CommandOrigin {
  /** Who read the command: the process in the foreground when it was sent. */
  readonly pid: number | undefined;
  /** Undefined for a shell with marks: it may have become another program in the same process. */
  readonly name: string | undefined;
  readonly marked: boolean;
}

export function originOf(terminal: Terminal, marked: boolean): CommandOrigin {
  const pid = Number(terminal.blocks.shell?.['pid'] ?? Number.NaN);
  // A shell at its prompt is in the foreground; asking for its name would take longer than many a command.
  if (marked && terminal.process?.pid === pid) return { pid, name: undefined, marked };
  const foreground = terminal.process?.foreground();
  return { pid: foreground?.pid, name: foreground?.name, marked };
}

/** What tells that something waits for input of its own. */
export interface Waits {
  readonly note: string;
  /** `quiet`: the far side's processes are invisible, so only its output counts. */
  readonly evidence: 'foreground' | 'quiet';
}

/** Calls back when the command has started something that waits for input of its own, once. */
export function watchInteractive(terminal: Terminal, origin: CommandOrigin, found: (waits: Waits) => void): Disposable {
  const look = async (signal: AbortSignal, see: () => Waits | undefined): Promise<void> => {
    await terminal.sync(signal);
    const waits = see();
    if (waits === undefined) return;
    stop();
    found(waits);
  };
  const watches = [
    afterQuiet(terminal, quietMs, (signal) => look(signal, () => interactive(terminal, origin))),
    whileDrawing(terminal, (signal) =>
      look(signal, () => (isFullScreen(terminal) ? interactive(terminal, origin) : undefined)),
    ),
  ];
  const { process } = terminal;
  if (process?.inputMode() === undefined) {
    const ours = (): boolean => process !== undefined && process.foreground()?.pid === origin.pid;
    const see = (): Waits | undefined => (ours() ? undefined : promptLike(terminal));
    watches.push(afterQuiet(terminal, unseenMs, (signal) => look(signal, see)));
  }
  const stop = (): void => {
    for (const watch of watches) watch[Symbol.dispose]();
  };
  return { [Symbol.dispose]: stop };
}

/** Looks every now and then while something prints that reads keys one by one, as far as can be seen. */
function whileDrawing(terminal: Terminal, look: (signal: AbortSignal) => Promise<void>): Disposable {
  const { clock, output } = terminal;
  const ending = new AbortController();
  let timer: Disposable | undefined;
  const due = (): void => {
    timer = undefined;
    // Most of what floods the terminal is no such program: its output need not be put on the screen for this.
    if (drawsKeys(terminal.process?.inputMode()) === false) return;
    look(ending.signal).catch(() => {});
  };
  const listening = output.on(() => {
    timer ??= clock.after(drawingMs, due);
  });
  return {
    [Symbol.dispose]: () => {
      listening[Symbol.dispose]();
      timer?.[Symbol.dispose]();
      ending.abort(unwanted);
    },
  };
}

function interactive(terminal: Terminal, origin: CommandOrigin): Waits | undefined {
  const { process, screen } = terminal;
  const foreground = process?.foreground();
  const name = foreground?.name ?? 'a program';
  const evidence = process === undefined ? 'quiet' : 'foreground';
  if (isFullScreen(terminal)) return { note: fullScreenNote(terminal), evidence };
  // Line editors ask for pastes to be marked while they read, and no longer when they run a command.
  if (process === undefined) return screen.modes.bracketedPaste ? promptLike(terminal) : undefined;
  if (foreground === undefined || !looksLikePrompt(cursorLine(terminal))) return undefined;
  const editing = editsLine(terminal);
  const other = foreground.pid !== origin.pid || (!origin.marked && foreground.name !== origin.name);
  // The shell that runs the command shows no prompt meanwhile; if it does, it is another one in the same process, or
  // its marks were removed.
  const isShell = traitsOf(name)?.dialect !== undefined && takesCommands(foreground, editing);
  const reads = other ? editing || isShell || nesting.has(name) : origin.marked && (editing || isShell);
  return reads ? { note: `${name} waits ${atPrompt}`, evidence } : undefined;
}

const atPrompt = 'at a prompt of its own: run commands in it, or leave it.';

function promptLike(terminal: Terminal): Waits | undefined {
  if (!looksLikePrompt(cursorLine(terminal))) return undefined;
  return { note: `A program seems to wait ${atPrompt}`, evidence: 'quiet' };
}
