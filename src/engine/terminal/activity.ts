import type { Foreground } from './channel.ts';
import { isShell } from '../shells/traits.ts';
import { isInteractive } from '../shells/shell-process.ts';
import type { Terminal } from './terminal.ts';

/** Whether a terminal's shell waits for a command, and what says so. */
interface Activity {
  /** Nothing runs in it; also when nothing ever will again. */
  readonly idle: boolean;
  /** Base name of the foreground program; if unknown, the program the terminal was opened with. */
  readonly foreground: string;
  /** Strongest first: its end, the shell's marks, the foreground process group, the name of the program. */
  readonly source: 'exit' | 'osc133' | 'process_group' | 'process_name';
  /** Of the newest command, or of the program itself once that has ended. */
  readonly lastExitCode: number | null;
  /** Since the newest output or input: who only looks at it does not wake it. */
  readonly idleMs: number;
}

export function activityOf(terminal: Terminal): Activity {
  const { blocks, process, ended, identity } = terminal;
  const front = ended ? undefined : process?.foreground();
  const foreground = front?.name ?? baseName(identity.program);
  const facts = {
    foreground,
    idleMs: Math.max(0, Math.round(quietMs(terminal))),
  };
  // A client that polls for the end of a build must not poll for ever.
  if (ended) return { idle: true, source: 'exit', lastExitCode: ended.by === 'exit' ? ended.code : null, ...facts };
  const lastExitCode = blocks.list.findLast(({ isOver }) => isOver)?.exitCode ?? null;
  const found = { lastExitCode, ...facts };
  if (blocks.state !== 'unknown') return { idle: blocks.state === 'prompt', source: 'osc133', ...found };
  const isWaiting = isShell(foreground) && wasOpenedToType(terminal, front);
  if (front !== undefined) return { idle: front.isLeader && isWaiting, source: 'process_group', ...found };
  return { idle: isWaiting, source: 'process_name', ...found };
}

/** How long nothing has come out of it or gone into it. */
function quietMs({ clock, usage, input, identity }: Terminal): number {
  const newest = Math.max(usage.lastOutputMs ?? -Infinity, input.last?.atMs ?? -Infinity);
  return newest === -Infinity ? clock.now() - identity.createdAt : clock.monotonic() - newest;
}

/** A shell that was given a command line or a script works on it until it ends, and has the same name meanwhile. */
function wasOpenedToType(
  {
    identity: {
      launch: { command },
    },
  }: Terminal,
  front: Foreground | undefined,
): boolean {
  if (command === undefined) return true;
  const words = front?.arguments ?? command.split(' ');
  return isShell(baseName(words[0] ?? '')) && isInteractive(words);
}

const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
