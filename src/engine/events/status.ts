import type { ProgramPrompt } from '../person/prompts/prompt.ts';
import type { Recordings } from '../recording/recordings.ts';
import type { Size } from '../terminal/channel.ts';
import type { TerminalState } from '../terminal/organs/state.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** What a person who looks at many terminals sees of one. */
export interface TerminalStatus extends Size {
  readonly terminal: string;
  readonly session: number;
  readonly name?: string;
  readonly target: string;
  readonly program: string;
  readonly state: TerminalState;
  readonly title: string;
  /** What its program waits for. */
  readonly prompt?: Pick<ProgramPrompt, 'kind' | 'needs' | 'prompt' | 'secret'>;
  readonly recordingId?: string;
  readonly exitCode?: number | null;
}

export function statusOf(terminal: Terminal, recordings: Pick<Recordings, 'activeOf'>): TerminalStatus {
  const { id, ended } = terminal;
  const { number, name, target, program } = terminal.identity;
  const { size } = terminal.screen;
  const { kind, needs, prompt, secret } = terminal.person.prompts.current ?? {};
  const recordingId = recordings.activeOf(id) ?? recordings.activeOf(id, 'cli');
  return {
    terminal: id,
    session: number,
    ...(name === undefined ? {} : { name }),
    target,
    program,
    state: terminal.state.current,
    title: terminal.state.title.current,
    ...size,
    ...(kind && needs && prompt !== undefined && secret !== undefined
      ? { prompt: { kind, needs, prompt, secret } }
      : {}),
    ...(recordingId === undefined ? {} : { recordingId }),
    ...(ended ? { exitCode: ended.by === 'exit' ? ended.code : null } : {}),
  };
}
