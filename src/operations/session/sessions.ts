import { z } from 'zod';
import { FairleadError } from '../../contract/errors.ts';
import { resizeAs } from '../../engine/terminal/borrowed-size.ts';
import { activityOf } from '../../engine/terminal/activity.ts';
import { operation } from '../../engine/call/operation.ts';
import { launchLines } from '../../policy/lines.ts';
import { answered } from '../../engine/waiting/answered.ts';
import { abortable } from '../../system/abortable.ts';
import { syncAll } from '../../system/sync-all.ts';
import type { Terminal } from '../../engine/terminal/terminal.ts';
import { EnvironmentInput } from '../environment.ts';
import { aboutLaunch } from '../launch.ts';
import { launchEnvironment } from './environment.ts';
import {
  ActivityShape,
  activityFacts,
  syncedSession,
  plainLine,
  cwdUri,
  Info,
  infoOf,
  liveSession,
  orNotFound,
  session,
  sessionOf,
  sessionRef,
} from './shared.ts';
import { typesUnseen } from '../../engine/call/audit/command-detail.ts';

const Ok = z.object({ status: z.literal('ok') });
const ok = { status: 'ok' as const };

export const list = operation({
  title: 'List sessions',
  summary: 'Enumerate every session, ended ones included until they are destroyed.',
  access: 'observe',
  input: z.object({}),
  output: z.object({ sessions: z.array(Info) }),
  show: ({ sessions }) => sessions.map(sessionLine).join('\n') || 'No session is open.',
  async run({ engine, caller, signal }) {
    const all = engine.sessions.all(caller);
    await syncAll(all, engine.clock, signal);
    return { sessions: all.map((terminal) => infoOf(terminal, engine)).sort((a, b) => a.id - b.id) };
  },
});

function sessionLine({ id, title, cols, rows, is_dead, exit_code, name, shell }: z.output<typeof Info>): string {
  const state = is_dead ? `exited ${exit_code ?? '?'}` : 'running';
  const words = [
    String(id).padStart(3),
    state.padEnd(9),
    `${cols}x${rows}`.padEnd(8),
    name ?? title,
    shell.cwd.replace(/^file:\/\/[^/]*/, ''),
  ];
  // One line per session, even if its name holds line breaks.
  return words
    .map((word) => word.replaceAll(/[\r\n]+/g, ' '))
    .join('  ')
    .trimEnd();
}

const Status = Info.extend({ scrollback_rows: z.number().int(), created_at: z.string(), idle_ms: z.number().int() });

export const get = operation({
  title: 'Session state',
  summary: 'Full state of one session.',
  access: 'observe',
  input: z.object(session),
  output: Status,
  positional: ['id'],
  async run(call) {
    const terminal = await syncedSession(call);
    return {
      ...infoOf(terminal, call.engine),
      scrollback_rows: terminal.screen.scrollbackRows,
      created_at: new Date(terminal.identity.createdAt).toISOString(),
      idle_ms: activityOf(terminal).idleMs,
    };
  },
});

/** The same method under its other name. */
export const status = operation({ ...get, title: 'Session status' });

export const Create = {
  cols: z.number().int().min(2).max(1000).optional().describe("Columns; the server's --cols by default (120)"),
  rows: z.number().int().min(1).max(1000).optional().describe("Rows; the server's --rows by default (30)"),
  cwd: z.string().min(1).max(4096).optional().describe("Start directory; your home or the server's --cwd by default"),
  shell: z.string().min(1).max(4096).optional().describe('Shell to run; yours by default'),
  argv: z.array(z.string().max(65_536)).min(1).max(1000).optional().describe('Run this program instead of a shell'),
  env: EnvironmentInput.describe('Extra variables'),
  title: z.string().trim().min(1).max(64).optional().describe('Shown until a program sets another'),
  name: z.string().trim().min(1).max(64).optional().describe('Name of the session'),
  target: z.string().min(1).max(256).optional().describe('local, or ssh:user@host'),
};

export const Created = z.object({
  id: z.number().int(),
  session_id: z.string(),
  title: z.string(),
  cols: z.number().int(),
  rows: z.number().int(),
});

export const create = operation({
  title: 'Create a session',
  summary: 'Spawn a session: a shell, a command through the shell, or a program.',
  access: 'open',
  input: z.object({ ...Create, command: z.string().min(1).optional().describe('Run through the shell') }),
  output: Created,
  commands: launchLines,
  about: aboutLaunch,
  async run({ input, engine, caller, signal, note }) {
    const { argv: [program, ...args] = [], ...rest } = input;
    if (program !== undefined && (rest.command ?? rest.shell) !== undefined) {
      throw new FairleadError('invalid_input', "Give one of 'argv' and 'command'", {
        hint: "'argv' runs a program without a shell; 'shell' says which shell runs 'command', or waits for input without one.",
      });
    }
    const words = program === undefined ? {} : { argv: [program, ...args] as const };
    const env = { ...launchEnvironment(engine), ...rest.env };
    const terminal = await engine.sessions.create({ ...rest, ...words, env, fromHome: true }, caller, signal);
    note({
      detail: aboutLaunch(input).detail || terminal.identity.program,
      terminal: String(terminal.identity.number),
    });
    return createdOf(terminal);
  },
});

export const createdOf = (terminal: Terminal): z.output<typeof Created> => ({
  id: terminal.identity.number,
  session_id: String(terminal.identity.number),
  title: terminal.state.title.current,
  ...terminal.screen.size,
});

export const input = operation({
  title: 'Type into a session',
  summary: 'Type characters into a session. Press Enter with a carriage return in them, or with enter.',
  access: 'control',
  input: z.object({
    ...session,
    input: z.string().describe('Text to type'),
    enter: z.boolean().default(false).describe('Press Enter after it'),
  }),
  output: Ok,
  positional: ['id', 'input'],
  async run(call) {
    const terminal = await liveSession(call);
    const text = typedText(call.input);
    call.note({ detail: aboutInput(text, typesUnseen(terminal)) });
    await terminal.input.send(Buffer.from(text), call.caller.name, call.signal);
    return ok;
  },
});

const typedText = ({ input: text, enter }: { readonly input: string; readonly enter: boolean }): string =>
  enter ? `${text}\r` : text;

/** How much was typed, with a preview unless the terminal hides its echo. */
function aboutInput(text: string, hidden: boolean): string {
  const control = /\p{Cc}/u.test(text) ? ', has_control' : '';
  return `${[...text].length} characters${control}${hidden ? '' : `: ${text}`}`;
}

export const resize = operation({
  title: 'Resize a session',
  summary: 'Change the size of a session; its program is told.',
  access: 'control',
  destructive: false,
  openWorld: false,
  idempotent: true,
  input: z.object({
    ...session,
    cols: z.number().int().min(2).max(1000).describe('Columns'),
    rows: z.number().int().min(1).max(1000).describe('Rows'),
  }),
  output: Ok,
  positional: ['id', 'cols', 'rows'],
  about: ({ cols, rows }) => ({ detail: `${cols}x${rows}` }),
  async run(call) {
    const terminal = await liveSession(call);
    await resizeAs(terminal, { cols: call.input.cols, rows: call.input.rows }, call.caller.name, call.signal);
    return ok;
  },
});

export const destroy = operation({
  title: 'Destroy a session',
  summary: 'End a session and everything in it. Answers when it is gone.',
  access: 'control',
  destructive: true,
  together: true,
  input: z.object(session),
  output: Ok.extend({ destroyed: z.literal(true) }),
  positional: ['id'],
  async run({ input: ref, engine, caller, signal }) {
    const id = await orNotFound(engine.sessions.close(sessionRef(ref), caller, signal));
    // Its recording is complete with it.
    await abortable(engine.logs?.settled(id) ?? Promise.resolve(), signal);
    return { ...ok, destroyed: true as const };
  },
});

export const idle = operation({
  title: 'Is a session idle?',
  summary: 'Whether nothing runs in a session: its shell waits for a command, or it has ended.',
  access: 'observe',
  input: z.object(session),
  output: z.object({ idle: z.boolean(), ...ActivityShape }),
  positional: ['id'],
  async run(call) {
    const terminal = await sessionOf(call);
    return { idle: activityOf(terminal).idle, ...activityFacts(terminal) };
  },
});

export const cwd = operation({
  title: 'Working directory',
  summary: 'Working directory of a session as a file:// URI, and as a path if it is on this machine.',
  access: 'observe',
  input: z.object(session),
  output: z.object({ cwd: z.string(), path: z.string().optional() }),
  positional: ['id'],
  async run(call) {
    const terminal = await sessionOf(call);
    // A shell reports its directory with its next prompt.
    await answered(terminal, call.signal);
    const { cwd: path, isHere: worksHere } = terminal.place;
    return { cwd: cwdUri(terminal), ...(path !== undefined && worksHere && { path }) };
  },
});

const Entry = z.object({
  text: z.string(),
  command: z.string().optional(),
  exit_code: z.number().int().nullable().optional(),
  started_at: z.string().optional(),
  ended_at: z.string().optional(),
});

export const history = operation({
  title: 'Session history',
  summary: 'The newest lines of a session, or the commands run in it.',
  access: 'observe',
  input: z.object({
    ...session,
    limit: z.number().int().min(1).default(100).describe('How many of the newest'),
    source: z
      .enum(['scrollback', 'commands'])
      .default('scrollback')
      .describe('Lines, or commands with their exit codes'),
  }),
  output: z.object({ entries: z.array(Entry), count: z.number().int() }),
  positional: ['id'],
  async run(call) {
    const { limit, source } = call.input;
    const terminal = await syncedSession(call);
    const { screen, blocks } = terminal;
    if (source === 'scrollback') {
      // Rows that the screen still has are the newest, and most callers want no more.
      const isEnough = limit <= screen.scrollbackRows;
      const newest = isEnough
        ? screen.rowTexts(screen.baseRow)
        : (await terminal.feed.older.read({}, call.signal)).rows();
      const rows = newest.map(({ text }) => plainLine(text));
      // Leave out the blank rows below the last text.
      const end = rows.findLastIndex((text) => text !== '') + 1;
      const entries = rows.slice(Math.max(0, end - limit), end).flatMap((text) => (text === '' ? [] : [{ text }]));
      return { entries, count: entries.length };
    }
    const entries = blocks.list.slice(-limit).map((block) => ({
      text: plainLine(block.command ?? ''),
      command: plainLine(block.command ?? ''),
      exit_code: block.exitCode ?? null,
      ...(block.startedAt === undefined ? {} : { started_at: new Date(block.startedAt).toISOString() }),
      ...(block.endedAt === undefined ? {} : { ended_at: new Date(block.endedAt).toISOString() }),
    }));
    return { entries, count: entries.length };
  },
});
