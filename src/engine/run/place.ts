import { FairleadError } from '../../contract/errors.ts';
import type { Ended } from '../terminal/channel.ts';
import { describeEnd } from '../terminal/ended.ts';
import { traitsOf } from '../shells/traits.ts';
import { type LineReader, lineReader } from '../shells/line-reader.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { cursorLine } from '../shells/prompt-line.ts';
import { drawsKeys } from '../shells/input-mode.ts';
import { until } from '../waiting/until.ts';
import { timings } from '../waiting/timings.ts';

const { promptMs, shownMs, marksMs, restsMs } = timings.place;

/** Where a command would go if it were typed now. */
export type Place =
  /** A shell that tells by marks what it does, at its prompt. */
  | { readonly kind: 'marked'; readonly shell: string }
  /** A shell that tells nothing, or something else that reads lines, at its prompt. */
  | LineReader;

/** What an earlier command taught us about a shell without marks. */
export interface Known {
  readonly prompt: string;
  /** It has ended, and nothing was typed since. */
  readonly idle: boolean;
}

/** Finds the program that would read the command. Throws `conflict` if none is ready. */
export async function placeOf(
  terminal: Terminal,
  known: Known | undefined,
  signal: AbortSignal,
  force = false,
): Promise<Place> {
  const { blocks } = terminal;
  if (terminal.ended) throw over(terminal.ended);
  if (terminal.blocks.marked && blocks.state === 'prompt') {
    if (blocks.promptAt === undefined) await until(terminal, () => blocks.promptAt !== undefined, promptMs, signal);
    if (blocks.incomplete) throw unfinished();
    // Brings the shell the answers to what it asked its terminal; late, they would be input of the command.
    if (traitsOf(blocks.shell?.['shell'])?.asksTerminal !== 'no') await terminal.sync(signal);
    const place = markedPlace(terminal);
    if (place) return place;
  }
  await terminal.sync(signal);
  const isKnown = (line: string): boolean => known?.prompt === line && line !== '';
  const now = (): Place | undefined =>
    markedPlace(terminal) ??
    (aboutToTell(terminal) || mayBeWorking(terminal, isKnown) ? undefined : lineReader(terminal, isKnown));
  const found =
    now() ??
    (await whenShown(terminal, now, signal)) ??
    (mayBeWorking(terminal, isKnown) ? undefined : lineReader(terminal, () => known?.idle === true)) ??
    undrawnPlace(terminal) ??
    (force ? forcedPlace(terminal) : undefined);
  if (terminal.ended) throw over(terminal.ended);
  if (found === undefined) throw busy(terminal);
  return found;
}

/** Marks without our nonce may be forged: a sentinel is better evidence. */
function markedPlace({ blocks, process }: Terminal): Place | undefined {
  if (!blocks.marked || blocks.promptAt === undefined || blocks.incomplete) return undefined;
  const shell = blocks.shell?.['shell'] ?? '';
  // The shell lost what tells how a command went: it can still be asked.
  const { last } = blocks;
  if (blocks.mute) return undefined;
  const marksOutput = traitsOf(shell)?.marks?.output !== false;
  if (marksOutput && last?.isOver === true && last.exitCode === undefined) return undefined;
  // Plain shells do not tell where output begins: it is where the echo of the line ends, if there is an echo.
  return !marksOutput && process?.inputMode() === 'hidden' ? undefined : { kind: 'marked', shell };
}

/** Ctrl-C at the wrong moment keeps fish from drawing its prompt; its editor waits all the same. */
function undrawnPlace({ blocks, process }: Terminal): Place | undefined {
  if (!blocks.marked || blocks.state !== 'prompt' || drawsKeys(process?.inputMode()) !== true) return undefined;
  const { shell = '', pid } = blocks.shell ?? {};
  return process?.foreground()?.pid === Number(pid) ? { kind: 'marked', shell } : undefined;
}

/** The caller overrules the screen: a plain shell may read there all the same, as inside tmux. */
function forcedPlace(terminal: Terminal): Place {
  const { name = '' } = terminal.process?.foreground() ?? {};
  const prompt = cursorLine(terminal);
  const { dialect } = traitsOf(name) ?? { dialect: 'posix' };
  // A shell whose language is not spoken here gets the line as it is.
  return dialect === undefined
    ? { kind: 'program', name, prompt }
    : { kind: 'shell', dialect, longLines: false, prompt };
}

/** The shell with marks is in the foreground again and has just printed: its marks are on their way. */
function aboutToTell({ blocks, process, clock, usage: { lastOutputMs = 0 } }: Terminal): boolean {
  if (!blocks.marked || blocks.state === 'prompt' || clock.monotonic() - lastOutputMs > marksMs) return false;
  return process?.foreground()?.pid === Number(blocks.shell?.['pid']);
}

/**
 * Without access to the processes: a running command may show what looks like a prompt, and would be sent the next
 * one. A prompt rests; a line editor says that it reads; and a share of a hundred is no prompt.
 */
function mayBeWorking(terminal: Terminal, isKnown: (line: string) => boolean): boolean {
  const { process, blocks, screen, clock } = terminal;
  const { marked } = blocks;
  const { lastOutputMs = 0 } = terminal.usage;
  if (process !== undefined || !marked || blocks.state !== 'running') return false;
  const line = cursorLine(terminal);
  if (isKnown(line) || screen.modes.bracketedPaste) return false;
  return /(?:^|[\s[(])\d{1,3}(?:\.\d+)?%\s?$/.test(line) || clock.monotonic() - lastOutputMs < restsMs;
}

async function whenShown(
  terminal: Terminal,
  look: () => Place | undefined,
  signal: AbortSignal,
): Promise<Place | undefined> {
  let found: Place | undefined;
  using _watching = terminal.feed.parseEagerly();
  await until(terminal, () => (found = look()) !== undefined, terminal.screen.alternate ? 0 : shownMs, signal);
  return found;
}

function over(ended: Ended): FairleadError {
  return new FairleadError('terminal_exited', `The program in this terminal ${describeEnd(ended)}.`, {
    hint: 'Its last screen can still be read; open another terminal to continue.',
  });
}

function busy(terminal: Terminal): FairleadError {
  const { current } = terminal.blocks;
  const name = terminal.process?.foreground()?.name;
  const what = current?.command?.split('\n')[0] ?? name ?? 'A program';
  if (terminal.screen.alternate) {
    return new FairleadError(
      'conflict',
      `${quoted(what)} is a full-screen program; exit it before running a command.`,
      {
        hint: 'Use its keys to leave it (q, :q, Ctrl+C), or open another terminal.',
        data: { running: what },
      },
    );
  }
  return new FairleadError('conflict', `${quoted(what)} is running in this terminal, which is not at a prompt.`, {
    hint: 'Wait for it, answer it, or interrupt it with Ctrl+C; or open another terminal.',
    data: { running: what },
  });
}

const quoted = (text: string): string => `\`${text.length > 60 ? `${text.slice(0, 60)}…` : text}\``;

function unfinished(): FairleadError {
  return new FairleadError('conflict', 'The shell waits for the rest of a command that was begun earlier.', {
    hint: 'Press Ctrl+C to drop it, or type the rest, before running another command.',
  });
}
