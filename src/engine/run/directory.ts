import { isCarrier } from '../shells/carriers.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { until } from '../waiting/until.ts';
import type { RunResult } from './result.ts';
import { timings } from '../waiting/timings.ts';

const { directoryMs } = timings.run;

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

const isHere = ({ process, blocks, place: { isHere: worksHere } }: Terminal): boolean =>
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
  if (terminal.blocks.marked) await until(terminal, () => terminal.blocks.promptAt !== undefined, directoryMs, signal);
}

/** The prompt after the command, in a shell that does not mark it. */
async function moreOutput(terminal: Terminal, signal: AbortSignal): Promise<void> {
  const { end } = terminal.log;
  await until(terminal, () => terminal.log.end !== end, directoryMs, signal);
}
