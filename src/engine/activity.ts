import { isShell } from './known-programs.ts';
import type { Terminal } from './terminal.ts';

/** Whether a terminal's shell waits for a command, and what says so (R-RPC-027). */
export interface Activity {
  readonly idle: boolean;
  /** Base name of the program in the foreground; what the terminal was opened with where nobody can see. */
  readonly foreground: string;
  /** Strongest first: the shell's marks, the foreground process group, the name of the program. */
  readonly source: 'osc133' | 'process_group' | 'process_name';
  readonly lastExitCode: number | null;
  /** Since the newest output or input: who only looks at it does not wake it. */
  readonly idleMs: number;
}

export function activityOf(terminal: Terminal): Activity {
  const { blocks, process, ended, program } = terminal;
  const front = ended ? undefined : process?.foreground();
  const foreground = front?.name ?? baseName(program);
  const facts = {
    foreground,
    lastExitCode: blocks.list.findLast(({ isOver }) => isOver)?.exitCode ?? null,
    idleMs: Math.max(0, Math.round(terminal.quietMs)),
  };
  if (ended) return { idle: false, source: 'process_group', ...facts };
  if (blocks.state !== 'unknown') return { idle: blocks.state === 'prompt', source: 'osc133', ...facts };
  if (front !== undefined) return { idle: front.isLeader && isShell(front.name), source: 'process_group', ...facts };
  return { idle: isShell(foreground), source: 'process_name', ...facts };
}

const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
