import { maySee } from '../call/principal.ts';
import type { Engine } from '../engine.ts';
import type { Terminal } from '../terminal/terminal.ts';

const longestCommand = 200;

/** A command of an agent that runs now. */
export interface RunningAgentCommand {
  readonly terminal: Terminal;
  readonly conversation: string;
  readonly agent: string;
  readonly command: string;
  /** In ms since the epoch. */
  readonly since: number;
}

/** What runs in the terminals into which agents typed last. What a person runs in another is that person's. */
export function runningCommands(engine: Engine, whose: { readonly principal: string }): RunningAgentCommand[] {
  return engine.terminals.flatMap((terminal) => {
    const typist = engine.agents.typistOf(terminal.id);
    if (!typist || !maySee(terminal.identity, whose) || !isBusy(terminal)) return [];
    const { blocks, commands, process, identity, state } = terminal;
    const command = blocks.current?.command ?? commands.running ?? process?.foreground()?.name ?? identity.program;
    return [
      {
        terminal,
        conversation: typist.id,
        agent: typist.agent,
        command: command.slice(0, longestCommand),
        since: blocks.current?.startedAt ?? state.since,
      },
    ];
  });
}

/** A command runs in it, or asks something. */
export const isBusy = ({ state, ended }: Terminal): boolean =>
  !ended && ['running', 'needs_input', 'needs_person'].includes(state.current);
