import { z } from 'zod';
import { remoteError } from '../../contract/remote-errors.ts';
import type { ReportProgress } from '../../engine/call/call.ts';
import { operation } from '../../engine/call/operation.ts';
import { cutSequence, plainOutput } from '../../engine/reading/plain-output.ts';
import type { Clock } from '../../lib/clock.ts';
import { ssh } from '../../transports/ssh/index.ts';
import type { SharedReader, Unread } from '../../engine/reading/shared-reader.ts';
import { nextOf, type Step, toolStep } from './advice.ts';
import { Id } from './connect-for.ts';
import { ShellMaxBytes, outputLimit, Seconds, waitMs } from './limits.ts';
import { RemoteFlags, flagged, replyText, tailText } from './text.ts';

/** Limits of docs/requirements/remote.md, section 7. */
const maxPatterns = 16;
const maxPatternBytes = 1024;
const progressMs = 1000;

const Base = z.object({
  tool: z.string(),
  status: z.string(),
  shell_id: z.string().optional(),
  stdout: z.string().optional(),
  bytes_returned: z.number().int().optional(),
  flags: RemoteFlags,
});

const MaxOutput = ShellMaxBytes.describe('(16384)');
const Timeout = Seconds.default(30).describe('At most 300');

export const read = operation({
  mcpName: 'ssh_shell_read',
  title: 'Read a shell',
  cost: 'O(output), local; wait=true blocks',
  summary: 'Read what an interactive shell printed since the last read. wait=true blocks until min_bytes are there.',
  access: 'control',
  destructive: false,
  idempotent: true,
  openWorld: true,
  input: z.object({
    shell_id: Id,
    clear: z.boolean().default(true).describe('false: show it again next time'),
    max_output_bytes: MaxOutput,
    wait: z.boolean().default(false),
    wait_timeout_secs: Timeout,
    min_bytes: z.number().int().min(0).default(1),
  }),
  output: Base.extend({
    buffer_size_at_snapshot: z.number().int().optional(),
    cleared: z.boolean().optional(),
    truncated: z.boolean().optional(),
  }),
  positional: ['shell_id'],
  async run({ input, engine, caller, signal }) {
    const { shells, settings } = engine.service(ssh);
    const shell = shells.find(input.shell_id, caller.principal);
    const most = outputLimit(input.max_output_bytes, settings);
    let late = false;
    if (input.wait) {
      const wanted = Math.min(Math.max(input.min_bytes, 1), most);
      late = (await shell.awaitBytes(wanted, waitMs(input.wait_timeout_secs), signal)) === 'timeout';
    }
    const unread = whole(shell);
    if (input.clear) shell.take(unread.to);
    const { text, returned, flags } = shown(unread, most);
    return {
      tool: 'ssh_shell_read',
      status: shell.closed ? 'closed' : late ? 'timeout' : 'open',
      shell_id: shell.id,
      stdout: text,
      bytes_returned: returned,
      ...flags,
      buffer_size_at_snapshot: unread.total,
      cleared: input.clear,
      truncated: returned < unread.total,
    };
  },
  render: (output) =>
    replyText(output, {
      fields: { SHELL_ID: output.shell_id },
      blocks: [data(output, output.buffer_size_at_snapshot)],
    }),
});

export const waitFor = operation({
  mcpName: 'ssh_shell_wait_for',
  title: 'Wait for text in a shell',
  cost: 'O(output), blocks up to timeout_secs',
  summary:
    'Wait until one of up to 16 plain substrings appears in what an interactive shell prints, unread output first.',
  access: 'control',
  destructive: false,
  openWorld: true,
  input: z.object({
    shell_id: Id,
    patterns: z.array(z.string()),
    timeout_secs: Timeout,
    max_output_bytes: MaxOutput,
    clear: z.boolean().default(true).describe('false: show it again next time'),
  }),
  output: Base.extend({
    matched_pattern: z.string().optional(),
    bytes_total: z.number().int().optional().describe('When more than bytes_returned'),
    next: z.string().optional(),
  }),
  positional: ['shell_id', 'patterns'],
  // A missing list counts as an empty one.
  faults: {
    patterns: (reason, value) =>
      remoteError(value === undefined || value === null ? 'EMPTY_PATTERNS' : 'INVALID_ARGUMENT', reason),
  },
  async run({ input, engine, caller, signal, progress }) {
    const { shells, settings } = engine.service(ssh);
    const patterns = checked(input.patterns);
    const shell = shells.find(input.shell_id, caller.principal);
    const ms = waitMs(input.timeout_secs);
    const beat = beating(engine.clock, ms, progress);
    let found: Awaited<ReturnType<SharedReader['awaitPattern']>>;
    try {
      found = await shell.awaitPattern(patterns, ms, signal);
    } finally {
      beat[Symbol.dispose]();
    }
    const [matched, status] = typeof found === 'string' ? [undefined, found] : [found, 'matched' as const];
    const unread = shell.unread(matched?.to);
    if (matched !== undefined && input.clear) shell.take(matched.to);
    const { text, returned, flags } = shown(unread, outputLimit(input.max_output_bytes, settings));
    return {
      tool: 'ssh_shell_wait_for',
      status,
      shell_id: shell.id,
      ...(matched === undefined ? {} : { matched_pattern: input.patterns[matched.pattern] ?? '' }),
      stdout: text,
      bytes_returned: returned,
      ...flags,
      ...(returned < unread.total && { bytes_total: unread.total }),
      ...nextOf(caller, successors(shell.id, status)),
    };
  },
  render: (output) =>
    replyText(output, {
      fields: {
        SHELL_ID: output.shell_id,
        MATCHED_PATTERN: output.matched_pattern,
        BYTES_RETURNED: output.bytes_returned,
      },
      blocks: [data(output, output.bytes_total)],
    }),
});

function checked(patterns: readonly string[]): Uint8Array[] {
  if (patterns.length === 0) throw remoteError('EMPTY_PATTERNS', 'patterns is empty');
  if (patterns.length > maxPatterns) {
    throw remoteError('TOO_MANY_PATTERNS', `${patterns.length} patterns`, { context: `limit=${maxPatterns}` });
  }
  return patterns.map((pattern, at) => {
    const bytes = Buffer.from(pattern);
    if (bytes.length === 0) throw remoteError('INVALID_ARGUMENT', `patterns.${at}: is empty`);
    if (bytes.length <= maxPatternBytes) return bytes;
    throw remoteError('PATTERN_TOO_LONG', `patterns.${at}: ${bytes.length} bytes`, {
      context: `limit=${maxPatternBytes}`,
    });
  });
}

/** Reports progress once a second. */
function beating(clock: Clock, totalMs: number, progress: ReportProgress): Disposable {
  const started = clock.monotonic();
  let timer: Disposable;
  const beat = (): void => {
    timer = clock.after(progressMs, beat);
    const done = Math.round((clock.monotonic() - started) / 1000);
    progress(`Waiting for ${done} s`, { done, total: totalMs / 1000 });
  };
  timer = clock.after(progressMs, beat);
  return { [Symbol.dispose]: () => timer[Symbol.dispose]() };
}

function successors(id: string, status: 'matched' | 'timeout' | 'closed'): Step[] {
  if (status === 'closed') return [];
  const write = [
    toolStep('ssh_shell_write', `(shell_id=${id}, ...)`),
    toolStep('ssh_shell_press', `(shell_id=${id}, ...)`),
  ];
  const again = [
    toolStep('ssh_shell_wait_for', `(shell_id=${id}, ...)`),
    toolStep('ssh_shell_read', `(shell_id=${id})`),
  ];
  return [...(status === 'matched' ? write : again), toolStep('ssh_shell_close', `(shell_id=${id})`)];
}

/** The unread bytes, without an escape sequence at the end that is still incomplete. */
function whole(shell: SharedReader): Unread {
  const { bytes, total, to, ...rest } = shell.unread();
  const held = shell.closed ? 0 : cutSequence(bytes);
  return { ...rest, bytes: bytes.subarray(0, bytes.length - held), total: total - held, to: to - held };
}

/** As plain text, cut to its tail. Sizes count raw bytes. */
function shown({ bytes, total }: Unread, most: number) {
  const { text: printed, truncated } = tailText(bytes, most, total);
  const { text, flags } = plainOutput(printed);
  return { text, returned: truncated?.shown ?? bytes.length, flags: flagged(flags) };
}

const data = ({ stdout = '', bytes_returned: returned = 0 }: z.output<typeof Base>, total = returned) => ({
  name: 'data' as const,
  text: stdout,
  truncated: returned < total ? { shown: returned, total } : undefined,
});
