import { z } from 'zod';
import { FairleadError } from '../../contract/errors.ts';
import { remoteError } from '../../contract/remote-errors.ts';
import { parseKey } from '../../engine/input/keys.ts';
import { operation } from '../../engine/call/operation.ts';
import { plainOutput } from '../../engine/reading/plain-output.ts';
import { parseByteCount } from '../../lib/byte-count.ts';
import { resourceUri } from '../../streams/uri.ts';
import { ssh } from '../../transports/ssh/index.ts';
import type { SshShell } from '../../transports/ssh/shells/shell.ts';
import { followHint, followStep, hintOf, nextOf, schemeOf, type Step, toolStep } from './advice.ts';
import { Id } from './connect-for.ts';
import { usually } from './limits.ts';
import { type Modifier, modifierNames, shellKey, shellKeys } from './shell-keys.ts';
import { RemoteFlags, flagged, replyText } from './text.ts';
import { pressKey } from '../../engine/input/typing.ts';

export { read, waitFor } from './shell-output.ts';

const Base = z.object({ tool: z.string(), status: z.string(), shell_id: z.string().optional() });

/** Bounds of a shell's buffer: at least about a screen, at most what memory allows. */
const smallestBuffer = 4 << 10;
const largestBuffer = 256 << 20;
/** The longest delay a Node timer takes. */
const longestMs = 0x7fffffff;

export const open = operation({
  mcpName: 'ssh_shell_open',
  title: 'Open a shell',
  cost: 'O(1), a round trip and up to 100 ms, blocking',
  summary: 'Open an interactive PTY shell on a session. Its SHELL_ID also works as terminal in terminal_* tools.',
  access: 'open',
  destructive: false,
  openWorld: true,
  keyed: true,
  input: z.object({
    session_id: Id,
    term: z
      .string()
      .max(64)
      .refine((text) => /^[\w.+-]+$/.test(text), 'must be the name of a terminal type')
      .default('xterm')
      .describe('vt100 or ansi for consoles'),
    cols: z.number().int().min(1).max(65_535).default(80),
    rows: z.number().int().min(1).max(65_535).default(24),
    inactivity_ttl: usually(z.number().int().min(0), 600).describe('Seconds without input and output (600)'),
    max_buffer_size: usually(z.string().max(32), '10m').describe('b, k, m, g, t (10m)'),
    release_when_no_subs: z.boolean().default(false),
    grace_ms: z.number().int().min(0).max(0xffffffff).default(2000),
  }),
  output: Base.extend({
    session_id: z.string().optional(),
    term: z.string().optional(),
    cols: z.number().int().optional(),
    rows: z.number().int().optional(),
    agent_id: z.string().optional(),
    initial_buffer: z.string().optional(),
    flags: RemoteFlags,
    hint: z.string().optional(),
    next: z.string().optional(),
  }),
  positional: ['session_id'],
  async run({ input, engine, caller, signal }) {
    const { sessions, shells, settings } = engine.service(ssh);
    const { term, cols, rows } = input;
    const bufferBytes = bufferSize(input.max_buffer_size) ?? settings.shellBufferBytes;
    const session = sessions.find(input.session_id, caller.principal);
    const ttl = input.inactivity_ttl;
    const shell = await shells.open(
      engine,
      session,
      {
        term,
        size: { cols, rows },
        inactivityMs: ttl === undefined ? settings.shellInactivityMs : Math.min(ttl * 1000, longestMs),
        bufferBytes,
        releaseWhenNoSubs: input.release_when_no_subs,
        graceMs: input.grace_ms,
      },
      signal,
    );
    let first: Uint8Array;
    try {
      first = await shell.peek(settings.initialPeekMs, settings.initialBufferBytes, signal);
    } catch (error) {
      // The caller hung up and would never learn its id.
      await shells.close(shell.id, caller.principal);
      throw error;
    }
    const plain = plainOutput(Buffer.from(first).toString('utf8'));
    return {
      tool: 'ssh_shell_open',
      status: 'ok',
      session_id: session.id,
      shell_id: shell.id,
      term,
      cols,
      rows,
      ...(session.agentId === undefined ? {} : { agent_id: session.agentId }),
      ...(plain.text === '' ? {} : { initial_buffer: plain.text }),
      ...flagged(plain.flags),
      ...hintOf(caller, followHint(uriOf(shell.id))),
      ...nextOf(caller, [followStep(uriOf(shell.id)), toolStep('ssh_shell_write'), toolStep('ssh_shell_press')]),
    };
  },
  render: (output) =>
    replyText(output, {
      fields: {
        SHELL_ID: output.shell_id,
        SESSION_ID: output.session_id,
        TERM: `${output.term} ${output.cols}x${output.rows}`,
        AGENT_ID: output.agent_id,
        INITIAL_BUFFER: output.initial_buffer,
      },
    }),
});

function bufferSize(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const bytes = parseByteCount(text);
  if (bytes !== undefined && bytes > 0) return Math.min(Math.max(bytes, smallestBuffer), largestBuffer);
  throw remoteError('INVALID_ARGUMENT', `max_buffer_size: ${JSON.stringify(text)} is not a size`, {
    context: 'a number with b, k, m, g or t, such as 512k',
  });
}

const Written = Base.extend({ bytes_sent: z.number().int().optional(), next: z.string().optional() });

export const write = operation({
  mcpName: 'ssh_shell_write',
  title: 'Write to a shell',
  cost: 'O(input), one round trip, returns before the answer',
  summary:
    'Send raw bytes to an interactive shell: \\n submits a line, \\u0003 is Ctrl+C. Never send a password. Named keys: ssh_shell_press.',
  access: 'control',
  destructive: true,
  openWorld: true,
  keyed: true,
  input: z.object({
    shell_id: Id,
    input: z
      .string()
      .max(1 << 20)
      .refine((text) => text.isWellFormed(), 'contains half of a surrogate pair; send complete characters'),
  }),
  output: Written,
  positional: ['shell_id', 'input'],
  async run({ input, engine, caller, signal }) {
    const shell = engine.service(ssh).shells.find(input.shell_id, caller.principal);
    caller.uses?.(shell.terminal);
    const bytes = Buffer.from(input.input);
    await send(shell, bytes, caller.name, signal);
    return {
      tool: 'ssh_shell_write',
      status: 'ok',
      shell_id: shell.id,
      bytes_sent: bytes.length,
      ...nextOf(caller, successors(shell.id)),
    };
  },
  render: (output) =>
    replyText(output, {
      fields: { SHELL_ID: output.shell_id, BYTES_SENT: output.bytes_sent },
    }),
});

export const press = operation({
  mcpName: 'ssh_shell_press',
  title: 'Press a key in a shell',
  cost: 'O(repeat), one round trip, returns before the answer',
  summary: 'Send a named keystroke to an interactive shell.',
  access: 'control',
  destructive: true,
  openWorld: true,
  keyed: true,
  input: z.object({
    shell_id: Id,
    key: z.enum(shellKeys),
    shift: z.boolean().default(false),
    alt: z.boolean().default(false),
    ctrl: z.boolean().default(false),
    repeat: z.number().default(1).describe('1..64'),
  }),
  output: Written.extend({
    key: z.string().optional(),
    modifiers: z.array(z.string()).optional(),
    repeat: z.number().int().optional(),
  }),
  positional: ['shell_id', 'key'],
  faults: { repeat: (reason) => remoteError('INVALID_REPEAT', reason) },
  async run({ input, engine, caller, signal }) {
    const shell = engine.service(ssh).shells.find(input.shell_id, caller.principal);
    caller.uses?.(shell.terminal);
    const { key, repeat } = input;
    const modifiers: Modifier[] = modifierNames.filter((modifier) => input[modifier]);
    const bytes = shellKey(key, modifiers, repeat);
    await send(shell, bytes, caller.name, signal);
    return {
      tool: 'ssh_shell_press',
      status: 'ok',
      shell_id: shell.id,
      key,
      modifiers,
      repeat,
      bytes_sent: bytes.length,
      ...nextOf(caller, successors(shell.id)),
    };
  },
  render: (output) =>
    replyText(output, {
      fields: {
        SHELL_ID: output.shell_id,
        KEY: output.key,
        MODIFIERS: output.modifiers?.join('+') || undefined,
        REPEAT: output.repeat,
        BYTES_SENT: output.bytes_sent,
      },
    }),
});

export const close = operation({
  mcpName: 'ssh_shell_close',
  title: 'Close a shell',
  cost: 'O(1), one round trip, blocking',
  summary: 'Close an interactive shell and release its PTY channel.',
  access: 'control',
  destructive: true,
  idempotent: true,
  openWorld: true,
  keyed: true,
  input: z.object({ shell_id: Id }),
  output: Base,
  positional: ['shell_id'],
  async run({ input, engine, caller }) {
    await engine.service(ssh).shells.close(input.shell_id, caller.principal);
    return { tool: 'ssh_shell_close', status: 'ok', shell_id: input.shell_id };
  },
  render: (output) => replyText(output, { fields: { SHELL_ID: output.shell_id } }),
});

const uriOf = (id: string): string => resourceUri('shell', id);

const successors = (id: string): Step[] => [
  { needs: [schemeOf(uriOf(id))], text: `resources/read ${uriOf(id)}?cursor=auto` },
  toolStep('ssh_shell_wait_for'),
  toolStep('ssh_shell_read'),
];

/** After this long the far side counts as not taking input. */
const sendMs = 30_000;
const interrupt = 3;

async function send(shell: SshShell, bytes: Uint8Array, by: string, signal: AbortSignal): Promise<void> {
  const limit = AbortSignal.timeout(sendMs);
  const stop = AbortSignal.any([signal, limit]);
  try {
    // Ctrl-C overtakes text that waits.
    if (bytes.length === 1 && bytes[0] === interrupt) await pressKey(shell.terminal, ctrlC, { by, repeat: 1 }, stop);
    else await shell.terminal.input.send(bytes, by, stop);
  } catch (cause) {
    if (signal.aborted) throw cause;
    if (cause instanceof FairleadError && cause.code === 'limit_reached') throw cause;
    const why = shell.closed ? 'the shell has ended' : `nothing was taken for ${sendMs / 1000} s`;
    throw remoteError('WRITE_FAILED', `shell ${shell.id} takes no input: ${why}`, { context: shell.id, cause });
  }
}

const ctrlC = parseKey('Ctrl+C');
