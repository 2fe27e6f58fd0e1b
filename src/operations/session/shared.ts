import { hostname } from 'node:os';
import { z } from 'zod';
import { FairleadError } from '../../contract/errors.ts';
import { isTerminalId, type TerminalRef } from '../../contract/ids.ts';
import { traitsOf } from '../../engine/shells/traits.ts';
import { activityOf } from '../../engine/terminal/activity.ts';
import type { Call } from '../../engine/call/call.ts';
import type { Engine } from '../../engine/engine.ts';
import { plainText } from '../../lib/plain-text.ts';
import { describeEnd } from '../../engine/terminal/ended.ts';
import type { Terminal } from '../../engine/terminal/terminal.ts';

/** Shared by the methods of this book. */

/** Accepts anything: a bad session id has an error text of its own, which a schema cannot give. */
const either = { anyOf: [{ type: 'number' }, { type: 'string' }] };
const Ref = z.unknown().optional().meta(either);
export const SessionRef = z.unknown().meta(either);

/** A session by number, or by the id its programs have in FAIRLEAD_SESSION. `id` and `session_id` mean the same. */
export const session = { id: Ref.describe('Session number'), session_id: Ref.describe('The same as id') };

export interface SessionInput {
  readonly id?: unknown;
  readonly session_id?: unknown;
}

export function sessionRef({ id, session_id }: SessionInput): TerminalRef {
  const [first, second] = [id, session_id].filter((one) => one !== undefined && one !== null).map(refOf);
  if (first === undefined) throw new FairleadError('invalid_input', "Missing 'id' or 'session_id' parameter");
  if (second === undefined || second === first) return first;
  throw new FairleadError('invalid_input', `Invalid session_id: ${second}`, {
    hint: `'id' says ${first}: they mean the same, so give one of them.`,
  });
}

function refOf(given: unknown): TerminalRef {
  const isPlain = typeof given === 'number' || typeof given === 'string';
  const text = isPlain ? String(given).trim() : JSON.stringify(given);
  if (isPlain && /^\d{1,15}$/.test(text)) return Number(text);
  if (isTerminalId(given)) return given;
  throw new FairleadError('invalid_input', `Invalid session_id: ${text.slice(0, 80)}`, {
    hint: 'Sessions have whole numbers from 0 on; session.list shows them.',
  });
}

type Asking = Pick<Call<SessionInput>, 'input' | 'engine' | 'caller' | 'signal'>;

/** The named session, alive or not. */
export async function sessionOf({ input, engine, caller, signal }: Asking): Promise<Terminal> {
  return await orNotFound(engine.sessions.forReading(sessionRef(input), caller, signal));
}

/** The same, with every byte of its output on its screen. */
export async function syncedSession(call: Asking): Promise<Terminal> {
  const terminal = await sessionOf(call);
  await terminal.sync(call.signal);
  return terminal;
}

/** The reference's text for a session that is gone, with what became of it as hint. */
export async function orNotFound<T>(looking: Promise<T>): Promise<T> {
  try {
    return await looking;
  } catch (thrown) {
    if (!(thrown instanceof FairleadError)) throw thrown;
    const { terminal, end } = thrown.data ?? {};
    if (typeof terminal !== 'string' || typeof end !== 'string') throw thrown;
    throw new FairleadError('terminal_not_found', `Session ${terminal} not found`, {
      data: { terminal },
      ...(end !== '' && { hint: thrown.message }),
    });
  }
}

/** The same; throws if it has exited. */
export async function liveSession(call: Asking): Promise<Terminal> {
  const terminal = await sessionOf(call);
  if (!terminal.ended) {
    call.engine.sessions.typesInto(terminal, call.caller);
    return terminal;
  }
  throw new FairleadError('terminal_exited', `Session ${terminal.identity.number} has exited`, {
    hint: `It ${describeEnd(terminal.ended)}; its screen can still be read. Create another session to continue.`,
  });
}

/** Without characters that deceive a reader. */
export const plainLine = (text: string): string => plainText(text, { separator: ' ' }).text;

function shellType(program: string): string {
  const name = program.replace(/^-/, '').replace(/\.exe$/i, '');
  return traitsOf(name)?.type ?? 'unknown';
}

/** `file://host/path`, percent-encoded; empty if unknown. */
export function cwdUri({ place: { cwd, isHere: worksHere }, blocks }: Terminal): string {
  if (cwd === undefined) return '';
  const host = worksHere ? hostname() : (blocks.cwdHost ?? '');
  return `file://${encodeURIComponent(host)}${cwd.split('/').map(encodeURIComponent).join('/')}`;
}

export const CursorShape = z.object({ x: z.number().int(), y: z.number().int(), visible: z.boolean() });

/** `y` is an absolute row: it stays valid while the screen scrolls, within one epoch. */
export function cursorOf({ screen }: Terminal): z.output<typeof CursorShape> {
  const { cursor, viewportTop } = screen.facts;
  return { x: cursor.x, y: viewportTop + cursor.y, visible: cursor.visible };
}

/** What a session runs, or that it runs nothing. */
export const ActivityShape = {
  foreground_process: z.string(),
  source: z.string(),
  last_exit_code: z.number().int().nullable(),
  idle_ms: z.number().int(),
  is_dead: z.literal(true).optional(),
};

export const activityFacts = (terminal: Terminal) => {
  const { foreground, source, lastExitCode, idleMs } = activityOf(terminal);
  return {
    foreground_process: foreground,
    source,
    last_exit_code: lastExitCode,
    idle_ms: idleMs,
    ...(terminal.ended && { is_dead: true as const }),
  };
};

export const Info = z.object({
  id: z.number().int(),
  session_id: z.string(),
  title: z.string(),
  name: z.string().optional(),
  cols: z.number().int(),
  rows: z.number().int(),
  cursor: CursorShape,
  viewport_top: z.number().int(),
  epoch: z.number().int(),
  is_dead: z.boolean(),
  exit_code: z.number().int().nullable().optional(),
  signal: z.string().optional(),
  domain_id: z.number().int(),
  target: z.string(),
  terminal: z.string().describe('The same session in the other books'),
  pid: z.number().int().optional(),
  shell: z.object({ shell_type: z.string(), process_name: z.string(), cwd: z.string() }),
});

export function infoOf(terminal: Terminal, engine: Engine): z.output<typeof Info> {
  const { ended, process } = terminal;
  const { number, name, program, target } = terminal.identity;
  const { size } = terminal.screen;
  const { viewportTop, epoch } = terminal.screen.facts;
  const { foreground } = activityOf(terminal);
  const atShell = program.endsWith(foreground);
  const [kind = ''] = target.split(':', 1);
  return {
    id: number,
    session_id: String(number),
    title: terminal.state.title.current,
    ...(name === undefined ? {} : { name }),
    ...size,
    cursor: cursorOf(terminal),
    viewport_top: viewportTop,
    epoch,
    is_dead: ended !== undefined,
    ...(ended === undefined ? {} : { exit_code: ended.by === 'exit' ? ended.code : null }),
    ...(ended?.by === 'signal' ? { signal: ended.signal } : {}),
    domain_id: Math.max(0, engine.targets.indexOf(kind)),
    target,
    terminal: terminal.id,
    ...(process === undefined ? {} : { pid: process.pid }),
    shell: {
      shell_type: shellType(foreground),
      process_name: atShell ? program : foreground,
      cwd: cwdUri(terminal),
    },
  };
}
