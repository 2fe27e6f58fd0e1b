import { z } from 'zod';
import { FairleadError } from '../../contract/errors.ts';
import type { TerminalRef } from '../../contract/ids.ts';
import type { Call } from '../../engine/call/call.ts';
import { type AnyOperation, operation } from '../../engine/call/operation.ts';
import type { Engine } from '../../engine/engine.ts';
import { pngFault } from '../../engine/capture/png-check.ts';
import { removeFile } from '../../system/files/remove-file.ts';
import type { CapturedImage } from './capture/image.ts';
import { window as captureWindow } from './capture/window.ts';
import { renderSessionError } from './errors.ts';
import { run_wait } from './exec.ts';
import { check as policyCheck } from './policy.ts';
import { status as proxyStatus } from './proxy.ts';
import { recording_read, recording_start, recording_status, recording_stop } from './recording.ts';
import { detect_errors, text as screenText } from './screen.ts';
import { health, launch_admin } from './server.ts';
import { create, destroy, status as sessionStatus } from './sessions.ts';
import { sessionRef } from './shared.ts';
import { timeLimit } from '../../system/time-limit.ts';

const Check = z.object({
  name: z.string(),
  ok: z.boolean(),
  skipped: z.literal(true).optional(),
  detail: z.unknown(),
  ms: z.number().int(),
});
type Check = z.output<typeof Check>;

/** The limit for all checks together. */
const limitMs = 20_000;

type Ask = (op: AnyOperation, input?: unknown) => Promise<unknown>;

interface Probe {
  readonly name: string;
  /** Answers with what it saw; throws, or is not `ok`, when something is wrong. */
  readonly run: (ask: Ask) => Promise<{ readonly ok: boolean; readonly detail: unknown; readonly skipped?: boolean }>;
}

/** Fine when it answers at all. */
const answers = (name: string, op: AnyOperation, input: unknown = {}): Probe => ({
  name,
  run: async (ask) => ({ ok: true, detail: await ask(op, input) }),
});

const expectedCode = 3;

/** A picture of a session of its own. */
const captures: Probe = {
  name: 'capture.window',
  run: async (ask) => {
    const { id } = (await ask(create, { argv: ['sh', '-c', 'echo selftest'], cols: 40, rows: 4 })) as { id: number };
    try {
      const { image } = (await ask(captureWindow, { id, include_base64: true })) as {
        image: z.output<typeof CapturedImage>;
      };
      await removeFile(image.path);
      const { base64 = '', ...detail } = image;
      const fault = pngFault(Buffer.from(base64, 'base64'));
      return { ok: fault === undefined, detail: fault === undefined ? detail : { ...detail, fault } };
    } catch (error) {
      if (!(error instanceof FairleadError) || error.code !== 'unsupported') throw error;
      return { ok: true, skipped: true, detail: error.message };
    } finally {
      await ask(destroy, { id });
    }
  },
};

const probes: readonly Probe[] = [
  {
    name: 'mux.available',
    run: async (ask) => {
      const made = (await ask(create, { argv: ['sh', '-c', 'exit 0'] })) as { id: number };
      await ask(destroy, { id: made.id });
      return { ok: true, detail: { created: made.id } };
    },
  },
  {
    name: 'server.health',
    run: async (ask) => {
      const detail = (await ask(health)) as { status: string };
      return { ok: detail.status === 'ok', detail };
    },
  },
  answers('policy.check', policyCheck, { command: 'echo selftest' }),
  {
    name: 'system.launch_admin',
    run: async (ask) =>
      process.platform === 'win32'
        ? { ok: true, detail: await ask(launch_admin, { dry_run: true }) }
        : { ok: true, skipped: true, detail: 'Windows only' },
  },
  answers('proxy.status', proxyStatus),
  {
    name: 'exec.run_wait',
    run: async (ask) => {
      const { id } = (await ask(create)) as { id: number };
      try {
        const input = { id, command: `(exit ${expectedCode})`, timeout_ms: 10_000 };
        const detail = (await ask(run_wait, input)) as { exit_code: number | null };
        return { ok: detail.exit_code === expectedCode, detail };
      } finally {
        await ask(destroy, { id });
      }
    },
  },
  captures,
];

const recordingMark = 'recorded-by-selftest';

/** A session that is recorded, run in, stopped and read. */
const recordingRoundtrip: Probe = {
  name: 'recording.roundtrip',
  run: async (ask) => {
    const { id } = (await ask(create)) as { id: number };
    try {
      // One that starts with every session is as good.
      const before = (await ask(recording_status, { id })) as { recording: boolean };
      if (!before.recording) await ask(recording_start, { id });
      await ask(run_wait, { id, command: `echo ${recordingMark}`, timeout_ms: 10_000 });
      const stopped = (await ask(recording_stop, { id })) as { recording_id: string; block_count: number };
      const { recording_id } = stopped;
      const { markdown } = (await ask(recording_read, { recording_id })) as { markdown: string };
      return { ok: markdown.includes(recordingMark), detail: stopped };
    } finally {
      await ask(destroy, { id });
    }
  },
};

function sessionProbes(id: TerminalRef): Probe[] {
  return [
    answers('session.status', sessionStatus, { id }),
    answers('screen.text', screenText, { id }),
    answers('screen.detect_errors', detect_errors, { id }),
    answers('session.recording_status', recording_status, { id }),
  ];
}

/** `selftest.run`; `capabilities` comes from the table it stands in itself. */
export const selftest = (capabilities: () => AnyOperation) =>
  operation({
    title: 'Self-test',
    summary: 'Check the parts of this server. Leaves nothing behind.',
    cliNames: ['server selftest'],
    access: 'control',
    destructive: false,
    openWorld: false,
    input: z.object({
      session_id: z.union([z.string(), z.number()]).optional().describe('Check this session as well'),
    }),
    output: z.object({ ok: z.boolean(), checks: z.array(Check) }),
    async run(call) {
      using limit = timeLimit(call.signal, limitMs);
      const { signal } = limit;
      const opened = new Set<string>();
      const ask: Ask = async (op, input = {}) => {
        const answer: unknown = await op.run({ ...call, signal, note: () => {}, input: op.input.parse(input) });
        if (op === create) {
          const { id } = answer as { id: number };
          const terminal = call.engine.terminals.find(({ identity }) => identity.number === id);
          if (terminal) opened.add(terminal.id);
        }
        return answer;
      };
      const redaction: Probe = { name: 'redaction', run: async () => masks(call) };
      const { session_id } = call.input;
      const own = session_id === undefined ? [] : sessionProbes(sessionRef({ session_id }));
      const checks: Check[] = [];
      const more = [answers('server.capabilities', capabilities()), redaction, recordingRoundtrip];
      for (const probe of [...probes, ...more, ...own]) {
        checks.push(await take(probe, ask));
      }
      await removeRecordings(call.engine, opened);
      return { ok: checks.every(({ ok }) => ok), checks };
    },
    show: ({ checks }) =>
      checks
        .map(({ name, ok, skipped, ms }) => `${ok ? '✓' : '✗'} ${name} ${skipped === true ? '(skipped)' : `${ms} ms`}`)
        .join('\n'),
    exitCode: ({ ok }) => (ok ? 0 : 1),
  });

/** Those of the terminals that the checks opened: a person may have every session recorded. */
async function removeRecordings({ logs }: Engine, terminals: ReadonlySet<string>): Promise<void> {
  const all = (await logs?.library.index.all()) ?? [];
  const own = all.filter(({ terminal }) => terminals.has(terminal));
  for (const { unterm_session_id: id } of own) await logs?.library.remove(id);
}

async function take({ name, run }: Probe, ask: Ask): Promise<Check> {
  const started = performance.now();
  const ms = (): number => Math.round(performance.now() - started);
  try {
    const { skipped, ...found } = await run(ask);
    return { name, ...found, ...(skipped === true ? { skipped: true as const } : {}), ms: ms() };
  } catch (error) {
    const message = error instanceof FairleadError ? renderSessionError(error) : 'It broke.';
    return { name, ok: false, detail: { error: message }, ms: ms() };
  }
}

function masks({ engine }: Call<unknown>): { ok: boolean; detail: unknown } {
  const secret = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';
  const seen = engine.redact(`token ${secret}`);
  return { ok: !seen.includes(secret), detail: { masked: seen } };
}
