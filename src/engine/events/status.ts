import type { KeyboardHolder } from '../input/keyboard-lease.ts';
import type { ProgramPrompt } from '../person/prompts/prompt.ts';
import { type Recorders, recordingOf } from '../recording/recording-of.ts';
import type { Agents } from '../agents/agents.ts';
import type { PauseMark } from '../agents/shapes.ts';
import type { Block } from '../terminal/blocks.ts';
import type { Size } from '../terminal/channel.ts';
import type { TerminalState } from '../terminal/organs/state.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** What a person is shown of a terminal's state; a page takes it as it is. */
export const shownStates = ['needs_you', 'lost', 'paused', 'working', 'failed', 'done', 'idle'] as const;
export type ShownState = (typeof shownStates)[number];

/** The newest command, as far as marks tell of it. */
interface BlockStatus {
  readonly id: number;
  readonly command?: string;
  readonly exitCode?: number;
  /** In ms since the epoch. */
  readonly startedAt?: number;
  readonly endedAt?: number;
}

/** What a person who looks at many terminals sees of one. */
export interface TerminalStatus extends Size {
  readonly terminal: string;
  readonly session: number;
  readonly name?: string;
  readonly target: string;
  readonly program: string;
  readonly state: TerminalState;
  readonly shown: ShownState;
  /** When that began, in ms since the epoch. */
  readonly since: number;
  readonly title: string;
  readonly cwd?: string;
  /** A full-screen program has the screen. */
  readonly alternate: boolean;
  readonly block?: BlockStatus;
  /** What its program waits for. */
  readonly prompt?: Pick<ProgramPrompt, 'kind' | 'needs' | 'prompt' | 'secret'>;
  /** Who types, or has taken the keyboard over. */
  readonly keyboard?: KeyboardHolder;
  /** The conversation that typed last. */
  readonly conversation?: string;
  /** That conversation is paused; a command that runs goes on. */
  readonly paused?: PauseMark;
  readonly recordingId?: string;
  /** Who chose the size, if it was changed. */
  readonly sizedBy?: string;
  /** In ms since the epoch: when its program ended, and how long it can still be read. */
  readonly endedAt?: number;
  readonly keptUntil?: number;
  readonly exitCode?: number | null;
}

/** Knows who types into which terminal. */
interface Agency {
  readonly agents: Pick<Agents, 'typistOf' | 'pauseOf'>;
}

/** Longer commands are cut: a list has one line for each. */
const longestCommand = 200;

export function statusOf(terminal: Terminal, engine: Recorders & Agency): TerminalStatus {
  const { id, ended } = terminal;
  const { number, name, target, program } = terminal.identity;
  const { kind, needs, prompt, secret } = terminal.person.prompts.current ?? {};
  const recordingId = recordingOf(id, engine);
  const { holder: keyboard } = terminal.input.lease;
  const { cwd } = terminal.place;
  const typist = engine.agents.typistOf(id);
  const paused = engine.agents.pauseOf(id);
  const block = terminal.blocks.current ?? terminal.blocks.last;
  const { size, alternate } = terminal.screen;
  const { sizedBy } = terminal.usage;
  const { endedAt, keptUntil } = terminal.state;
  return {
    terminal: id,
    session: number,
    ...(name === undefined ? {} : { name }),
    target,
    program,
    state: terminal.state.current,
    shown: shownState(terminal, paused !== undefined),
    since: terminal.state.since,
    title: terminal.state.title.current,
    ...(cwd === undefined ? {} : { cwd }),
    alternate,
    ...(block && { block: blockStatus(block, terminal.commands.running) }),
    ...size,
    ...(kind && needs && prompt !== undefined && secret !== undefined
      ? { prompt: { kind, needs, prompt, secret } }
      : {}),
    ...(keyboard && { keyboard }),
    ...(typist && { conversation: typist.id }),
    ...(paused && { paused }),
    ...(recordingId === undefined ? {} : { recordingId }),
    ...(sizedBy === undefined ? {} : { sizedBy }),
    ...(ended && endedAt !== undefined ? { endedAt } : {}),
    ...(ended && keptUntil !== undefined ? { keptUntil } : {}),
    ...(ended ? { exitCode: ended.by === 'exit' ? ended.code : null } : {}),
  };
}

/** The first that fits: what a person must do comes before what a program does. */
function shownState({ state, ended, blocks }: Terminal, isPaused: boolean): ShownState {
  const { current } = state;
  if (current === 'needs_person' || current === 'needs_input') return 'needs_you';
  if (current === 'lost') return 'lost';
  if (isPaused && !ended) return 'paused';
  if (current === 'running' || current === 'starting') return 'working';
  if (ended) return ended.by === 'exit' && ended.code === 0 ? 'done' : 'failed';
  const exitCode = blocks.last?.exitCode;
  if (exitCode === undefined) return 'idle';
  return exitCode === 0 ? 'done' : 'failed';
}

/** Some shells tell the command only when it has ended; until then `running` may know it. */
function blockStatus(block: Block, running: string | undefined): BlockStatus {
  const { id, exitCode, startedAt, endedAt, command = block.isOver ? undefined : running } = block;
  return {
    id,
    ...(command === undefined ? {} : { command: cut(command) }),
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(endedAt === undefined ? {} : { endedAt }),
  };
}

const cut = (text: string): string => (text.length > longestCommand ? `${text.slice(0, longestCommand)}…` : text);
