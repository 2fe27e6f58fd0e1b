import { randomBytes } from 'node:crypto';
import { Emitter } from '../../lib/emitter.ts';
import { watchOverflow } from '../reading/long-output/overflow.ts';
import { commandLines, markedLines, markerWord } from '../shells/command-text.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { until } from '../waiting/until.ts';
import { deaf } from './deaf.ts';
import { traitsOf } from '../shells/traits.ts';
import { directoryBefore } from './directory.ts';
import { MarksWatch } from './evidence/marks-watch.ts';
import { ProgramWatch } from './evidence/program-watch.ts';
import { SentinelWatch } from './evidence/sentinel-watch.ts';
import { nothingTyped } from './input-taken.ts';
import { originOf } from './interactive.ts';
import type { Place } from './place.ts';
import type { Watch } from './result.ts';
import type { RunRequest } from './run.ts';
import type { RunningCommand } from './running-command.ts';
import { timings } from '../waiting/timings.ts';

const { preparedMs } = timings.place;

export interface Before {
  /** The previous command has ended, and nothing was typed since. */
  readonly idle: boolean;
  /** Input was typed just now. */
  readonly disturbed: boolean;
}

/** Types a command where it is read, and watches what comes of it. */
export async function submitCommand(
  terminal: Terminal,
  place: Place,
  request: RunRequest,
  before: Before,
  signal: AbortSignal,
): Promise<RunningCommand> {
  const startedMs = terminal.clock.monotonic();
  await nothingTyped(terminal, signal);
  const origin = originOf(terminal, place.kind === 'marked');
  const { watch, lines } = await prepare(terminal, place, request, before, signal);
  const prompt = place.kind === 'marked' ? '' : place.prompt;
  const started: RunningCommand = {
    command: request.command,
    cwd: directoryBefore(terminal),
    watch,
    startedMs,
    endedMs: undefined,
    cancelledMs: undefined,
    origin,
    prompt,
    outer: undefined,
    inner: undefined,
    over: new Emitter(),
    overflow: watchOverflow(terminal, () => watch.outputFrom),
    ending: undefined,
    lastInput: undefined,
    typed: place.kind === 'program' ? undefined : { atMs: terminal.clock.monotonic(), offset: terminal.log.end },
  };
  watch.ended.then(
    (ending) => {
      started.ending = ending;
      started.endedMs = terminal.clock.monotonic();
      started.lastInput = terminal.input.last;
      started.overflow.endsAt(ending.outputTo);
      if (started.inner?.ending === undefined) started.inner?.watch.outerEnded?.(ending);
      started.over.emit(ending);
    },
    () => started.overflow[Symbol.dispose](),
  );
  try {
    await terminal.input.send(Buffer.from(lines), request.by, signal, 'command');
  } catch (error) {
    watch[Symbol.dispose]();
    started.overflow[Symbol.dispose]();
    throw error;
  }
  return started;
}

async function prepare(
  terminal: Terminal,
  place: Place,
  { command, by }: RunRequest,
  { idle, disturbed }: Before,
  signal: AbortSignal,
): Promise<{ readonly watch: Watch; readonly lines: string }> {
  // Only text that cannot be typed needs to know what the screen knows.
  if (/\p{Cc}/u.test(command) || command.length > 500) await terminal.sync(signal);
  const { bracketedPaste } = terminal.screen.modes;
  if (place.kind === 'program') {
    const paste = command.includes('\n') && bracketedPaste && !place.name.startsWith('python');
    const body = paste ? `\x1b[200~${command}\x1b[201~` : command.replaceAll('\n', '\r');
    return { watch: new ProgramWatch(terminal, command, place.prompt, by), lines: `${body}\r` };
  }
  if (place.kind === 'shell') {
    // A person who sees it in the terminal knows its purpose.
    const token = `${markerWord}${randomBytes(9).toString('base64url')}__`;
    const lines = markedLines(command, token, { ...place, paste: bracketedPaste });
    const { blocks, process } = terminal;
    const { marked } = blocks;
    const { pid, name } = process?.foreground() ?? {};
    const silent = marked && pid === Number(blocks.shell?.['pid']) && name === blocks.shell?.['shell'];
    return { watch: new SentinelWatch(terminal, { ...place, token, by, silent }), lines: lines.join('') };
  }
  const { dialect = 'posix', hasLineEditor: longLines = false } = traitsOf(place.shell) ?? {};
  const lines = commandLines(command, { dialect, paste: bracketedPaste, longLines });
  for (const line of lines.slice(0, -1)) await enter(terminal, line, by, signal);
  const last = lines.at(-1) ?? '\r';
  // Type-ahead from other senders may hold commands that run first.
  const typedAhead = !idle && (terminal.input.lastAhead ?? -1) >= (terminal.blocks.last?.outputFrom ?? Infinity);
  return { watch: new MarksWatch(terminal, { command, by, line: last, typedAhead, disturbed }), lines: last };
}

/** A line that prepares the command, up to the prompt after it. */
async function enter(terminal: Terminal, line: string, by: string, signal: AbortSignal): Promise<void> {
  const { blocks } = terminal;
  const { cycle } = blocks;
  await terminal.input.send(Buffer.from(line), by, signal, 'command');
  const taken = await until(
    terminal,
    () => blocks.cycle !== cycle && blocks.promptAt !== undefined,
    preparedMs,
    signal,
  );
  if (!taken && !terminal.ended) throw deaf('it has shown no prompt after the first part of the command');
  // The shell may have asked its terminal something with its prompt; the answer must not come after the next line.
  await terminal.sync(signal);
}
