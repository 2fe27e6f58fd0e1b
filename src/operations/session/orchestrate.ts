import { z } from 'zod';
import { visible } from '../../contract/quote.ts';
import { FairleadError } from '../../contract/errors.ts';
import { accounted } from '../../engine/call/call.ts';
import { describeEnd } from '../../engine/terminal/ended.ts';
import { commandDetail, typesUnseen } from '../../engine/call/audit/command-detail.ts';
import { operation } from '../../engine/call/operation.ts';
import { launchLines } from '../../policy/lines.ts';
import { readyForLine } from '../../engine/waiting/ready-for-line.ts';
import { type Condition, awaitCondition as waitForAny } from '../../engine/waiting/await-condition.ts';
import { aboutLaunch } from '../launch.ts';
import { renderSessionError } from './errors.ts';
import { typeLine, Waited, waitFor } from './exec.ts';
import { create, Create, Created, createdOf } from './sessions.ts';
import { plainLine, liveSession, session, sessionOf, SessionRef } from './shared.ts';

export const launch = operation({
  title: 'Create a session and run a command',
  summary: 'Create a session, wait for its prompt, then run a command in it.',
  access: 'open',
  input: z.object({ ...Create, command: z.string().min(1).optional().describe('Typed once the shell is ready') }),
  output: Created,
  commands: launchLines,
  about: aboutLaunch,
  async run(call) {
    const { command, ...rest } = call.input;
    const made = await create.run({ ...call, input: rest });
    if (command === undefined) return made;
    const terminal = await sessionOf({ ...call, input: { id: made.id } });
    try {
      await readyForLine(terminal, call.signal);
      await call.nextStep();
      call.note({ detail: commandDetail(command, typesUnseen(terminal)) });
      await typeLine(terminal, command, call.caller.name, call.signal);
    } catch (error) {
      if (!terminal.ended) throw error;
      // The caller never learned its number: destroy it.
      await call.engine.sessions.close(made.id, call.caller, call.signal);
      throw new FairleadError('terminal_exited', 'The program ended before the command could be sent', {
        hint: `It ${describeEnd(terminal.ended)}. A command needs a shell, or a program that reads commands, to run it.`,
        cause: error,
      });
    }
    return createdOf(terminal);
  },
});

const Result = z.object({
  session_id: z.string(),
  sent: z.boolean().optional(),
  error: z.string().optional(),
  result: Waited.optional(),
});

export const broadcast = operation({
  title: 'Run a command in several sessions',
  summary: 'Send the same command to several sessions. With wait, collect the result of each.',
  access: 'control',
  destructive: true,
  input: z.object({
    command: z.string().min(1).describe('Command line to run'),
    sessions: z.array(SessionRef).max(1000).describe('Sessions to send it to'),
    wait: z.boolean().default(false).describe('Wait for all to end'),
    timeout_ms: z.number().int().min(0).max(86_400_000).default(30_000).describe('How long to wait'),
  }),
  output: z.object({ results: z.array(Result) }),
  commands: ({ command }) => [command],
  notesCommands: true,
  async run(call) {
    const { command, sessions, wait: waits, timeout_ms } = call.input;
    let unseen = false;
    const one = async (id: unknown): Promise<z.output<typeof Result>> => {
      const session_id = visible(typeof id === 'string' ? id : (JSON.stringify(id) ?? 'undefined'));
      const what = {
        operation: 'orchestrate.broadcast',
        access: 'control',
        terminal: session_id.slice(0, 64),
      } as const;
      try {
        // The call as a whole was allowed; audit each session's outcome separately.
        return await accounted(what, call, async (_admit, note) => {
          note({ detail: command });
          const terminal = await liveSession({ ...call, input: { id } });
          const hidden = typesUnseen(terminal);
          unseen ||= hidden;
          note({ detail: commandDetail(command, hidden) });
          const request = { command, timeoutMs: timeout_ms, queue: false, force: false, by: call.caller.name };
          if (waits) return { session_id, sent: true, result: await waitFor(terminal, request, call.signal) };
          await typeLine(terminal, command, call.caller.name, call.signal);
          return { session_id, sent: true };
        });
      } catch (error) {
        if (!(error instanceof FairleadError)) throw error;
        return { session_id, error: renderSessionError(error) };
      }
    };
    const results = await Promise.all(sessions.map(one));
    call.note({ detail: commandDetail(command, unseen) });
    return { results };
  },
});

export const wait = operation({
  title: 'Wait for text',
  summary: 'Wait until a session shows a text, a pattern, quiet or its end.',
  access: 'observe',
  input: z.object({
    ...session,
    pattern: z.string().min(1).optional().describe('Text to wait for'),
    any: z.array(z.string().min(1)).max(16).optional().describe('Any of these as well'),
    regex: z.boolean().default(false).describe('Patterns are RE2 expressions'),
    from: z
      .enum(['screen', 'now'])
      .default('screen')
      .describe('screen: what it shows and what comes; now: only what comes'),
    idle_ms: z.number().int().min(10).max(600_000).optional().describe('Or this long without output'),
    exit: z.boolean().default(false).describe('Or its end'),
    timeout_ms: z.number().int().min(0).max(86_400_000).default(10_000).describe('How long to wait'),
  }),
  output: z.object({
    matched: z.boolean(),
    timed_out: z.literal(true).optional(),
    pattern: z.string().optional(),
    row: z.number().int().optional(),
    text: z.string().optional(),
    reason: z.enum(['pattern', 'idle', 'exit']).optional(),
    elapsed_ms: z.number().int(),
  }),
  positional: ['id', 'pattern'],
  exitCode: ({ timed_out }) => (timed_out ? 6 : 0),
  async run(call) {
    const { pattern, any = [], regex, from, idle_ms, exit, timeout_ms } = call.input;
    const patterns = [...(pattern === undefined ? [] : [pattern]), ...any];
    if (patterns.length === 0 && idle_ms === undefined && !exit) {
      throw new FairleadError('invalid_input', "Missing 'pattern'", { hint: "Or give 'any', 'idle_ms' or 'exit'." });
    }
    const terminal = await sessionOf(call);
    const texts = patterns.map(
      (text): Condition => (regex ? { type: 'regex', pattern: text } : { type: 'text', text }),
    );
    const conditions: Condition[] = [
      ...texts,
      ...(idle_ms === undefined ? [] : [{ type: 'quiet', ms: idle_ms } as const]),
      { type: 'exit' },
    ];
    const request = { conditions, timeoutMs: timeout_ms, since: terminal.log.end, shown: from === 'screen' };
    const { hit, match, elapsedMs } = await waitForAny(terminal, request, call.signal);
    const about = pattern === undefined ? {} : { pattern };
    const time = { elapsed_ms: elapsedMs };
    if (hit === undefined) return { matched: false, timed_out: true as const, ...about, ...time };
    if (hit < texts.length) {
      const line = match?.line ?? '';
      const shown = terminal.screen
        .rowTexts(terminal.screen.baseRow)
        .findLast(({ text }) => text.includes(match?.text ?? line));
      const row = shown === undefined ? {} : { row: shown.row };
      return {
        matched: true,
        pattern: patterns[hit] ?? '',
        reason: 'pattern' as const,
        ...row,
        text: plainLine(line),
        ...time,
      };
    }
    const quiet = conditions[hit]?.type === 'quiet';
    if (!quiet && !exit) return { matched: false, ...about, reason: 'exit' as const, ...time };
    return { matched: true, ...about, reason: quiet ? ('idle' as const) : ('exit' as const), ...time };
  },
});
