import { setTimeout } from 'node:timers/promises';
import { FairleadError } from '../../contract/errors.ts';
import { activityOf } from './activity.ts';
import { masked } from '../proxy/settings.ts';
import { keyValues } from '../redaction/key-value.ts';
import { urlCredentials } from '../redaction/url-credentials.ts';
import { traitsOf } from '../shells/traits.ts';
import { answered } from '../waiting/answered.ts';
import type { Terminal } from './terminal.ts';
import { timings } from '../waiting/timings.ts';

const { lookMs, everyMs, wakeAgainMs } = timings.environment;

/** A shell's environment as its integration shows and changes it: nothing is typed, nothing enters its history. */
export interface ShellEnvironment {
  /** Takes effect when the shell next looks; whether it has is what the result tells. */
  queue(changes: Readonly<Record<string, string | null>>): () => boolean;
  /** From now on the shell tells its environment at every prompt. */
  follow(): void;
  /** What the shell told last; undefined when it has not yet. */
  read(): ToldVariables | undefined;
  /** From now on `fresh` is undefined, until the shell tells anew. */
  renew(): void;
  fresh(): ToldVariables | undefined;
}

interface ToldVariables {
  readonly variables: ReadonlyMap<string, string>;
  readonly asOf: number;
}

interface EnvironmentView extends ToldVariables {
  /** `shell`: as the shell told it. `process`: as it was when the program began. */
  readonly source: 'shell' | 'process';
  /** The shell was to tell anew and did not: this is older. */
  readonly unheard: boolean;
}

/** What can be known of a session's environment now. A shell at its prompt is asked, others told it last. */
export async function readEnvironment(terminal: Terminal, signal: AbortSignal): Promise<EnvironmentView> {
  const { process } = terminal;
  const { environment } = terminal.identity;
  environment?.follow();
  let unheard = false;
  if (environment !== undefined && waitsForCommand(terminal)) {
    if (looks(terminal) === 'now') {
      unheard = isDeaf(terminal);
      if (!unheard) {
        environment.renew();
        unheard = !(await woken(terminal, () => environment.fresh() !== undefined, signal));
      }
    } else interrupt(terminal);
  }
  const told = environment?.read();
  if (told) return { ...told, source: 'shell', unheard };
  const variables = process?.environment?.();
  if (variables) return { variables, source: 'process', asOf: terminal.identity.createdAt, unheard };
  throw new FairleadError('unsupported', 'The environment of this session cannot be seen.', {
    hint: 'It needs a shell with integration (bash, zsh, fish, sh) or a program on this machine.',
  });
}

type Applied = 'next_command' | 'next_prompt' | 'now';

/**
 * Changes a variable of a running shell, at its prompt at once where a signal makes it look. `now` presses Enter
 * at an empty prompt where none does. Undefined when the session's shell cannot be told.
 */
export async function setEnvironment(
  terminal: Terminal,
  change: Readonly<Record<string, string | null>>,
  options: { readonly now: boolean; readonly by: string },
  signal: AbortSignal,
): Promise<Applied | undefined> {
  const { blocks, process } = terminal;
  const { environment } = terminal.identity;
  const { readsVariables = 'at_prompt' } = traitsOf(blocks.shell?.['shell'])?.marks ?? {};
  const idle = waitsForCommand(terminal);
  const look = looks(terminal);
  // A plain shell has no hook that would look by itself.
  const reached = readsVariables !== 'never' || (idle ? look === 'now' || hearsUsr1(terminal) : look !== undefined);
  if (!environment || !reached) return undefined;
  const taken = environment.queue(change);
  if (!idle) {
    // Others look at their next prompt by themselves.
    if (readsVariables === 'never' && look !== undefined) process?.wake?.();
    return readsVariables === 'before_command' ? 'next_command' : 'next_prompt';
  }
  const wakes = look === 'now' && !isDeaf(terminal);
  if (wakes && (await woken(terminal, taken, signal))) return options.now ? 'now' : 'next_command';
  const interrupted = interrupt(terminal);
  // Also what was typed while the command before was still going: its prompt comes first, then the text.
  const nothingTyped = (terminal.input.last?.offset ?? -1) < (blocks.last?.outputTo ?? blocks.promptAt ?? 0);
  if (options.now && nothingTyped && blocks.promptAt !== undefined) {
    await terminal.input.send(Buffer.from('\r'), options.by, signal);
    // What is run next must not take the prompt of this Enter for its own end.
    await answered(terminal, signal);
    if (await soon(terminal, taken, signal)) return 'now';
  }
  return readsVariables === 'before_command' || interrupted ? 'next_command' : 'next_prompt';
}

/** An ended terminal is idle, too, and has no shell to wake. */
const waitsForCommand = (terminal: Terminal): boolean => !terminal.ended && activityOf(terminal).idle;

/** When the shell this terminal was opened with looks if it is woken, as it announced: at once, or when a line is entered. */
function looks({ blocks, process }: Terminal): 'now' | 'line' | undefined {
  const { pid, winch } = blocks.shell ?? {};
  if (process?.wake === undefined || process.pid !== Number(pid)) return undefined;
  return winch === 'now' || winch === 'line' ? winch : undefined;
}

/** The default action would end the shell: only where this very process announced that it is ready for it. */
function hearsUsr1({ blocks, process }: Terminal): boolean {
  const { pid, usr1 } = blocks.shell ?? {};
  return usr1 === '1' && process?.signal !== undefined && process.foreground()?.pid === Number(pid);
}

/** Has a shell at its prompt look when a line is entered, before its commands. Whether it will. */
function interrupt(terminal: Terminal): boolean {
  if (!hearsUsr1(terminal)) return false;
  terminal.process?.signal?.('USR1');
  return true;
}

/** Wakes the shell. Whether it has looked; one that has not is not woken again. */
async function woken(terminal: Terminal, looked: () => boolean, signal: AbortSignal): Promise<boolean> {
  const { process, clock, blocks } = terminal;
  const { shell, promptAt, last } = blocks;
  const again = clock.monotonic() + wakeAgainMs;
  let wakes = 0;
  const done = (): boolean => {
    if (looked()) return true;
    if (wakes === 0 || (wakes === 1 && clock.monotonic() >= again)) {
      wakes += 1;
      process?.wake?.();
    }
    return false;
  };
  const heard = await soon(terminal, done, signal);
  // One that was given a command meanwhile had other things to do.
  const stillIdle = blocks.state === 'prompt' && blocks.last === last;
  if (!heard && stillIdle) terminal.commands.unwoken = { shell, promptAt, looked };
  return heard;
}

/** Another shell may hear, and so does one that looked at the same prompt after all, only late. */
function isDeaf(terminal: Terminal): boolean {
  const before = terminal.commands.unwoken;
  if (before === undefined) return false;
  const { shell, promptAt } = terminal.blocks;
  const hears = shell !== before.shell || (promptAt === before.promptAt && before.looked());
  if (hears) terminal.commands.unwoken = undefined;
  return !hears;
}

/** Polls a condition for a short while: files do not report changes. */
async function soon({ clock }: Terminal, holds: () => boolean, signal: AbortSignal): Promise<boolean> {
  const end = clock.monotonic() + lookMs;
  while (!holds()) {
    if (clock.monotonic() > end) return false;
    await setTimeout(everyMs, undefined, { signal });
  }
  return true;
}

/** Whether a variable of this name is likely to hold a secret: the rule of the redactor. */
export const isSecretName = (name: string): boolean => keyValues(`${name}=Zx81kQ-0pLmn4T`).length > 0;

/** A value without the passwords of addresses in it. Proxies are written without a scheme, too. */
export function withoutPassword(name: string, value: string): string {
  if (/_proxy$/i.test(name)) return masked(value);
  return urlCredentials(value).reduceRight(
    (text, { start, end }) => `${text.slice(0, start)}•••${text.slice(end)}`,
    value,
  );
}
