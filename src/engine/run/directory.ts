import { deferred } from '../../lib/deferred.ts';
import { isCarrier } from '../shells/known-programs.ts';
import { abortable } from '../../system/abortable.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { RunResult } from './result.ts';

/** A shell that tells its directory does so with its next prompt. */
const promptMs = 300;

/** Where the shell works that ran the command; undefined where it does not tell and the machine cannot be asked. */
export async function directoryAfter(
  terminal: Terminal,
  { state, evidence }: Pick<RunResult, 'state' | 'evidence'>,
  before: string | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (terminal.ended) return undefined;
  // What runs may be elsewhere: the shell is where it was when it started it.
  if (state !== 'done' && state !== 'incomplete') return before;
  if (!isHere(terminal)) await prompted(terminal, signal);
  if (evidence === 'mark') return ofProcess(terminal);
  // What told the end is a process of its own, and may be gone before the shell is back in the foreground.
  if (isHere(terminal) && terminal.process?.cwd() === undefined) await moreOutput(terminal, signal);
  return shownHere(terminal);
}

/** Where the shell works that is about to run a command. */
export const directoryBefore = (terminal: Terminal): string | undefined =>
  terminal.blocks.promptAt === undefined ? shownHere(terminal) : (terminal.blocks.cwd ?? shownHere(terminal));

const isHere = ({ process, blocks, worksHere }: Terminal): boolean =>
  process !== undefined && (blocks.cwd === undefined || worksHere);

/** The machine knows a new directory before the shell has told it. */
const ofProcess = (terminal: Terminal): string | undefined =>
  isHere(terminal) ? (terminal.process?.cwd() ?? terminal.blocks.cwd) : terminal.blocks.cwd;

/** Of what ssh or a container shows, the machine knows nothing. */
function shownHere(terminal: Terminal): string | undefined {
  if (!isHere(terminal)) return terminal.blocks.cwd;
  const name = terminal.process?.foreground()?.name;
  return name !== undefined && isCarrier(name) ? undefined : terminal.process?.cwd();
}

async function prompted(terminal: Terminal, signal: AbortSignal): Promise<void> {
  const { blocks } = terminal;
  if (!terminal.marked || blocks.promptAt !== undefined) return;
  const ready = deferred();
  using _block = terminal.block.on(({ type }) => {
    if (type === 'prompt') ready.resolve();
  });
  using _state = terminal.state.changed.on(() => {
    if (terminal.ended) ready.resolve();
  });
  using _limit = terminal.clock.after(promptMs, ready.resolve);
  await abortable(ready.promise, signal);
}

/** The prompt after the command, in a shell that does not mark it. */
async function moreOutput(terminal: Terminal, signal: AbortSignal): Promise<void> {
  const more = deferred();
  using _output = terminal.output.on(() => more.resolve());
  using _limit = terminal.clock.after(promptMs, more.resolve);
  await abortable(more.promise, signal);
}
