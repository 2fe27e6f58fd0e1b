import { FairleadError } from '../contract/errors.ts';
import { activityOf } from './activity.ts';
import { keyValues } from './redaction/key-value.ts';
import type { Terminal } from './terminal.ts';

/** A shell's environment as its integration shows and changes it: nothing is typed, nothing enters its history (R-RPC-030). */
export interface ShellEnvironment {
  /** Takes effect when the shell next looks. */
  queue(changes: Readonly<Record<string, string | null>>): void;
  /** From now on the shell tells its environment after every command. */
  follow(): void;
  /** What the shell told last; undefined when it has not yet. */
  read(): { readonly variables: ReadonlyMap<string, string>; readonly asOf: number } | undefined;
}

export interface EnvironmentView {
  readonly variables: ReadonlyMap<string, string>;
  /** `shell`: as it was after the newest command. `process`: as it was when the program began. */
  readonly source: 'shell' | 'process';
  readonly asOf: number;
}

/** What can be known of a session's environment now (R-RPC-032). */
export function readEnvironment(terminal: Terminal): EnvironmentView {
  const { environment, process } = terminal;
  environment?.follow();
  const told = environment?.read();
  if (told) return { ...told, source: 'shell' };
  const variables = process?.environment?.();
  if (variables) return { variables, source: 'process', asOf: terminal.createdAt };
  throw new FairleadError('unsupported', 'The environment of this session cannot be seen.', {
    hint: 'It needs a shell with integration (bash, zsh, fish, sh) or a program on this machine.',
  });
}

export type Applied = 'next_command' | 'next_prompt' | 'now';

/**
 * Changes a variable of a running shell (R-RPC-031). `now` presses Enter at an empty prompt, so that the shell looks at
 * once. Undefined when the session's shell cannot be told.
 */
export async function setEnvironment(
  terminal: Terminal,
  change: Readonly<Record<string, string | null>>,
  options: { readonly now: boolean; readonly by: string },
  signal: AbortSignal,
): Promise<Applied | undefined> {
  const { environment, blocks, process } = terminal;
  if (!environment) return undefined;
  environment.queue(change);
  const { idle } = activityOf(terminal);
  const { shell = '', pid, usr1 } = blocks.shell ?? {};
  // Also what was typed while the command before was still going: its prompt comes first, then the text.
  const nothingTyped = (terminal.lastInput?.offset ?? -1) < (blocks.last?.outputTo ?? blocks.promptAt ?? 0);
  if (options.now && idle && nothingTyped && blocks.promptAt !== undefined) {
    await terminal.send(Buffer.from('\r'), options.by, signal);
    return 'now';
  }
  if (shell === 'zsh' || shell === 'fish') return 'next_command';
  // Its default action would end the shell: only where this very process announced that it is ready for it.
  const listens = usr1 === '1' && idle && process?.foreground()?.pid === Number(pid);
  if (!listens || !process?.signal) return 'next_prompt';
  process.signal('USR1');
  return 'next_command';
}

/** Whether a variable of this name is likely to hold a secret: the rule of the redactor. */
export const isSecretName = (name: string): boolean => keyValues(`${name}=Zx81kQ-0pLmn4T`).length > 0;
