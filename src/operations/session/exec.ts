import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { FairleadError } from '../../contract/errors.ts';
import { activityOf } from '../../engine/terminal/activity.ts';
import type { Signal } from '../../engine/terminal/channel.ts';
import { commandDetail, typesUnseen } from '../../engine/call/audit/command-detail.ts';
import { echoedCommand } from '../../engine/reading/echoed-command.ts';
import { parseKey } from '../../engine/input/keys.ts';
import { operation } from '../../engine/call/operation.ts';
import { clip } from '../../engine/reading/clip.ts';
import { load } from '../../engine/reading/long-output/load.ts';
import { textOf } from '../../engine/run/output-text.ts';
import { type RunResult, runCommand } from '../../engine/run/run.ts';
import { signalForeground } from '../../engine/terminal/controls.ts';
import type { Terminal } from '../../engine/terminal/terminal.ts';
import { awaitCondition as waitForAny } from '../../engine/waiting/await-condition.ts';
import { isContinuation } from '../../lib/utf8.ts';
import { ActivityShape, activityFacts, plainLine, liveSession, session, sessionOf } from './shared.ts';
import { input as sessionInput } from './sessions.ts';
import { pressKey, typeText } from '../../engine/input/typing.ts';

/** The same method under its other name. */
export const send = operation({ ...sessionInput, title: 'Type into a session' });

export const run = operation({
  title: 'Run a command',
  summary: 'Type a command and Enter; does not wait for its end.',
  access: 'control',
  destructive: true,
  input: z.object({ ...session, command: z.string().min(1).describe('Command line to type') }),
  output: z.object({ sent: z.literal(true), busy: z.boolean() }),
  positional: ['id', 'command'],
  lastTakesRest: true,
  commands: ({ command }) => [command],
  notesCommands: true,
  async run(call) {
    const terminal = await liveSession(call);
    call.note({ detail: commandDetail(call.input.command, typesUnseen(terminal)) });
    const busy = !activityOf(terminal).idle;
    await typeLine(terminal, call.input.command, call.caller.name, call.signal);
    return { sent: true as const, busy };
  },
});

/** A command that policy judged as a whole. Several lines go as one paste where the program accepts pastes. */
export async function typeLine(terminal: Terminal, command: string, by: string, signal: AbortSignal): Promise<void> {
  // A program that takes these for keys would run other lines than the one that was judged.
  const as = /[\t\r]/.test(command) ? 'keys' : 'command';
  await typeText(terminal, command, { by, paste: command.includes('\n'), submit: true, as }, signal);
}

/** The most output an answer holds. */
const mostOutput = 1 << 20;
/** Room for the line that says what was left out. */
const markerBytes = 64;
const sources: Readonly<Record<string, string>> = { mark: 'osc133', marker: 'sentinel', child: 'exit' };

export const Waited = z.object({
  output: z.string(),
  exit_status: z.enum(['completed', 'timeout', 'incomplete', 'needs_person']),
  timed_out: z.boolean(),
  marker: z.string(),
  exit_code: z.number().int().nullable(),
  duration_ms: z.number().int(),
  truncated: z.boolean(),
  source: z.string(),
  note: z.string().optional(),
});

export const WaitOptions = {
  timeout_ms: z.number().int().min(0).max(86_400_000).default(30_000).describe('How long to wait'),
  queue: z.boolean().default(false).describe('Wait up to timeout_ms for the running command instead of refusing'),
  force: z
    .boolean()
    .default(false)
    .describe('Type it even if a program other than a shell, or a full-screen one, is running'),
};

export const run_wait = operation({
  title: 'Run a command and wait',
  summary: 'Run a command and wait for its end: output and exit code. After timeout_ms it keeps running.',
  access: 'control',
  destructive: true,
  input: z.object({ ...session, command: z.string().min(1).describe('Command line to run'), ...WaitOptions }),
  output: Waited,
  positional: ['id', 'command'],
  lastTakesRest: true,
  cliNames: ['exec wait'],
  show: ({ output, note }) =>
    [output, ...(note === undefined ? [] : [`(${note})`])].filter((part) => part !== '').join('\n'),
  passthrough: ({ exit_status, exit_code }, wanted) => {
    // Not ended, or not even begun: a script must not go on as if it had.
    if (exit_status !== 'completed') return { timeout: 6, needs_person: 5, incomplete: 1 }[exit_status];
    return wanted ? (exit_code ?? 1) : 0;
  },
  commands: ({ command }) => [command],
  notesCommands: true,
  async run(call) {
    const terminal = await liveSession(call);
    const { command, timeout_ms: timeoutMs, queue, force } = call.input;
    call.note({ detail: commandDetail(command, typesUnseen(terminal)) });
    const request = { command, timeoutMs, queue, force, by: call.caller.name, nextStep: call.nextStep };
    return await waitFor(terminal, request, call.signal);
  },
});

export interface ExecWait {
  readonly command: string;
  readonly timeoutMs: number;
  readonly queue: boolean;
  readonly force: boolean;
  readonly by: string;
  /** Asked before it is typed, where that is later than it was asked for. */
  readonly nextStep?: (() => Promise<void>) | undefined;
}

const longestSwitch = 64;

export async function waitFor(
  terminal: Terminal,
  request: ExecWait,
  signal: AbortSignal,
): Promise<z.output<typeof Waited>> {
  const { commands } = terminal;
  const before = request.queue ? commands.queue : undefined;
  const turn = Promise.resolve(before)
    .catch(() => {})
    .then(() => attempt(terminal, request, signal));
  commands.queue = Promise.allSettled([commands.queue, turn]);
  const result = await turn;
  return answerOf(result, await wholeOutput(terminal, result, signal));
}

/** All retained output: a run itself answers only with the end of a long one. */
async function wholeOutput(terminal: Terminal, result: RunResult, signal: AbortSignal): Promise<string> {
  const { output, missedBytes, outputFrom: from, outputTo: to, head = new Uint8Array() } = result;
  if (missedBytes === 0) return plainLine(output);
  const { log } = terminal;
  const { size } = terminal.screen;
  if (from >= log.start) return (await load(terminal, { kind: 'log', from, to, size, alternate: false }, signal)).text;
  // More than the log holds: its head was kept aside, the middle is gone.
  const first = plainLine((await textOf(head, size)).text);
  const tail = Buffer.from(plainLine(output));
  const cut = Math.max(0, tail.length + Buffer.byteLength(first) + markerBytes - mostOutput);
  let start = cut === 0 ? 0 : tail.indexOf(0x0a, cut) + 1 || cut;
  while (isContinuation(tail[start] ?? 0)) start++;
  const marker = `[… ${missedBytes - head.length + start} bytes left out …]`;
  return [first, marker, tail.subarray(start).toString()].filter((part) => part !== '').join('\n');
}

async function attempt(terminal: Terminal, request: ExecWait, signal: AbortSignal): Promise<RunResult> {
  const { clock } = terminal;
  const endMs = clock.monotonic() + request.timeoutMs;
  for (;;) {
    signal.throwIfAborted();
    try {
      if (request.queue) await request.nextStep?.();
      if (!request.force) await refuseFullScreen(terminal, signal);
      return await runCommand(terminal, { ...request, shellsOnly: !request.force }, signal);
    } catch (error) {
      if (!(error instanceof FairleadError) || error.code !== 'conflict') throw error;
      const leftMs = endMs - clock.monotonic();
      // Wait only for a running command; text typed at the prompt stays there.
      const waits = request.queue && error.data?.['running'] !== undefined && leftMs > 0;
      if (!waits || !(await prompted(terminal, leftMs, signal))) throw sessionBusy(terminal, error);
    }
  }
}

/** A shell may read on the alternate screen, but the program that switched to it still means to draw there. */
async function refuseFullScreen(terminal: Terminal, signal: AbortSignal): Promise<void> {
  await terminal.feed.flush();
  if (!terminal.screen.alternate && !maySwitchScreens(terminal)) return;
  await terminal.sync(signal);
  if (!terminal.screen.alternate || terminal.ended) return;
  const { idle, foreground } = activityOf(terminal);
  throw new FairleadError('conflict', 'A full-screen program is running.', {
    hint: 'Quit it (q, :q, Ctrl+C), or pass force: true to type the command anyway.',
    ...(idle ? {} : { data: { running: foreground } }),
  });
}

/** Unparsed output must be parsed first only if it may have switched to the alternate screen. */
function maySwitchScreens({ log, feed: { shownTo } }: Terminal): boolean {
  // A sequence may have begun earlier; none that switches screens is longer than this.
  const { bytes, from } = log.read(shownTo - longestSwitch);
  return from > shownTo || /(?:\x1b\[|\x9b)\?[\d;]*4[79]/.test(Buffer.from(bytes).toString('latin1'));
}

async function prompted(terminal: Terminal, timeoutMs: number, signal: AbortSignal): Promise<boolean> {
  const { hit } = await waitForAny(terminal, { conditions: [{ type: 'prompt' }], timeoutMs }, signal);
  return hit !== undefined;
}

function sessionBusy(terminal: Terminal, error: FairleadError): FairleadError {
  return new FairleadError('conflict', `Session ${terminal.identity.number} is busy`, {
    hint: `${error.message} ${error.hint ?? ''}`.trim(),
    data: { rpcCode: 'SESSION_BUSY' },
    cause: error,
  });
}

function answerOf(result: RunResult, output: string): z.output<typeof Waited> {
  const { text, clipped } = clip(output, { maxBytes: mostOutput });
  // The command, or something it started, wants input: it has neither ended nor timed out.
  const waits = result.state === 'running' && result.evidence !== 'none';
  const timedOut = (result.state === 'running' && !waits) || result.state === 'starting';
  const exitStatus = {
    done: 'completed',
    exited: 'completed',
    running: waits ? 'incomplete' : 'timeout',
    incomplete: 'incomplete',
    needs_person: 'needs_person',
    needs_input: 'incomplete',
    starting: 'timeout',
  } as const;
  const words = result.asks === undefined ? result.note : `It asks: ${plainLine(result.asks.prompt)}`;
  return {
    output: text,
    exit_status: exitStatus[result.state],
    timed_out: timedOut,
    // With marks no sentinel is printed, but the field is filled anyway.
    marker: result.marker ?? `__FAIRLEAD_DONE_${randomUUID()}__`,
    exit_code: result.exitCode,
    duration_ms: result.durationMs,
    truncated: clipped || result.missedBytes > 0,
    source: sources[result.evidence] ?? result.evidence,
    ...(words === undefined ? {} : { note: words }),
  };
}

export const status = operation({
  title: 'Command status',
  summary: 'Whether a session is idle, and what it runs.',
  access: 'observe',
  input: z.object(session),
  output: z.object({ status: z.enum(['idle', 'running']), ...ActivityShape, command: z.string().optional() }),
  positional: ['id'],
  async run(call) {
    const terminal = await sessionOf(call);
    const command = commandOf(terminal);
    return {
      status: activityOf(terminal).idle ? ('idle' as const) : ('running' as const),
      ...activityFacts(terminal),
      ...(command === undefined ? {} : { command: plainLine(command) }),
    };
  },
});

function commandOf({ blocks, log, screen: { size } }: Terminal): string | undefined {
  const { current } = blocks;
  return current && (current.command ?? echoedCommand(current, log, size));
}

export const cancel = operation({
  title: 'Cancel a command',
  summary: 'Press Ctrl+C in a session.',
  access: 'control',
  input: z.object(session),
  output: z.object({ cancelled: z.literal(true), was_running: z.boolean(), foreground_process: z.string() }),
  positional: ['id'],
  async run(call) {
    const terminal = await liveSession(call);
    const { idle, foreground } = activityOf(terminal);
    await pressKey(terminal, parseKey('Ctrl+C'), { by: call.caller.name, repeat: 1 }, call.signal);
    return { cancelled: true as const, was_running: !idle, foreground_process: foreground };
  },
});

const bytes: Readonly<Record<string, number>> = { INT: 0x03, TSTP: 0x1a, QUIT: 0x1c, EOF: 0x04 };
const real = new Set<string>(['INT', 'TERM', 'HUP', 'KILL', 'QUIT', 'USR1', 'USR2', 'STOP', 'CONT']);

/** `signal.send`: a control character by default, a real signal to the foreground group with `mode: process`. */
export const signalSend = operation({
  title: 'Send a signal',
  summary: 'Send SIGINT, SIGTSTP, SIGQUIT or EOF as a key; mode "process" sends a real signal.',
  access: 'control',
  destructive: true,
  input: z.object({
    ...session,
    signal: z
      .string()
      .min(1)
      .describe('INT, TSTP, QUIT, EOF; as a process also TERM, HUP, KILL, USR1, USR2, STOP, CONT'),
    mode: z.enum(['key', 'process']).default('key').describe('process: a real signal to the foreground program'),
  }),
  output: z.object({ sent: z.literal(true), signal: z.string() }),
  positional: ['id', 'signal'],
  cliNames: ['exec signal'],
  about: ({ signal, mode }) => ({ detail: mode === 'key' ? signal : `${signal} to the process` }),
  async run(call) {
    const { mode, signal } = call.input;
    const terminal = await liveSession(call);
    const name = signal.toUpperCase().replace(/^SIG/, '');
    const byte = bytes[name];
    if (mode === 'process') {
      if (!real.has(name)) throw unsupported(signal, [...real]);
      signalForeground(terminal, name as Signal);
    } else if (byte === undefined) {
      throw unsupported(
        signal,
        Object.keys(bytes),
        real.has(name) ? ' With mode process (--mode process) it is sent as a signal.' : '',
      );
    } else if (name === 'INT') {
      await pressKey(terminal, parseKey('Ctrl+C'), { by: call.caller.name, repeat: 1 }, call.signal);
    } else {
      await terminal.input.send(Uint8Array.of(byte), call.caller.name, call.signal);
    }
    return { sent: true as const, signal };
  },
});

function unsupported(signal: string, known: readonly string[], more = ''): FairleadError {
  return new FairleadError('unsupported', `Unsupported signal: ${signal.slice(0, 40)}`, {
    hint: `Known here: ${known.join(', ')}.${more}`,
  });
}
