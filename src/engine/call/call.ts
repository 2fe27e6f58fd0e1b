import type { z } from 'zod';
import { FairleadError } from '../../contract/errors.ts';
import { visible } from '../../contract/quote.ts';
import { askPerson } from './ask-person.ts';
import type { PersonQuestion, PersonReach } from '../person/questions/question.ts';
import type { AuditEntry } from './audit/audit.ts';
import { detailOf, type AuditNote } from './audit/note.ts';
import { diskError } from '../../system/files/disk-trouble.ts';
import type { Engine } from '../engine.ts';
import type { ConnectedClient } from './connected-client.ts';
import { pass } from './gate.ts';
import type { CallKey } from './idempotency.ts';
import { incident } from '../../system/incident.ts';
import { parseInput } from './parse-input.ts';
import { type Access, type AnyOperation, type Operation, operationId } from './operation.ts';
import type { CallTrack } from '../agents/call-track.ts';
import type { PausedCall } from '../agents/hold-queue.ts';
import type { Terminal } from '../terminal/terminal.ts';

export type Origin = 'mcp' | 'rpc' | 'http' | 'cli';

/** One of several clients of an instance. */
export interface Client {
  /** Calls with the same key that name no terminal mean the same one. */
  readonly key: string;
  /** What tells it from other clients. More than the key where that may be shared by two of a kind. */
  readonly self: string;
  /** The instance learns when it is gone. */
  readonly leaves: boolean;
}

/** Who asks, and through which door. */
export interface Caller {
  readonly name: string;
  /** Whose things it may see. Callers of one principal share theirs, others do not know of them. */
  readonly principal: string;
  readonly origin: Origin;
  /** Where it called from: an address and port, or `socket`. */
  readonly peer?: string | undefined;
  readonly may: (access: Access) => boolean;
  /** Absent: it means the default session of the instance (number 0) when it names none. */
  readonly client?: Client | undefined;
  /** Its connection, where it has one: what it follows belongs to that and ends with it. */
  readonly connected?: ConnectedClient | undefined;
  /** Takes a sentence that the answer is to carry besides its own facts. Absent: the answer has no room for one. */
  readonly tell?: ((notice: string) => void) | undefined;
  /** Whether it has the tool of this name, or resources of this scheme (`shell://`). Absent: its door has other names. */
  readonly offers?: ((name: string) => boolean) | undefined;
  /** A person at a browser: what they do is never held. A person at a command line is known by the origin. */
  readonly isPerson?: true;
  /** Aborted when its connection ends, where it has one that lasts longer than a call. */
  readonly connection?: AbortSignal | undefined;
  /** The row of the timeline of the call that it makes now. */
  readonly call?: string | undefined;
  /** Hears of the terminal that the call looks up. */
  readonly uses?: ((terminal: Terminal) => void) | undefined;
  /** The terminal it lives in, if it told: it does not want to type into that by accident. */
  readonly ownSession?: string | undefined;
}

/** How far a call is, in whatever it counts; `total` where that is known. */
export interface Amount {
  readonly done: number;
  readonly total?: number | undefined;
}

export type ReportProgress = (message: string, amount?: Amount) => void;

export interface Call<Input> {
  readonly input: Input;
  readonly engine: Engine;
  readonly caller: Caller;
  /** Aborted when the caller hangs up. Stops the waiting, never the terminal. */
  readonly signal: AbortSignal;
  /** The content of the operation's secret field, where the door carries bytes. Good until `run` is over. */
  readonly body: Uint8Array | undefined;
  /** What the audit trail is to say of this call; what is not given stays as it was noted before. */
  readonly note: (facts: AuditNote) => void;
  /** Asks the gate about command lines that only the call itself can find out. Rejects where they are refused. */
  readonly admitCommands: (lines: readonly string[]) => Promise<void>;
  /**
   * A call of several steps asks before each but the first. While its conversation is paused it waits here; rejects when it must not
   * go on.
   */
  readonly nextStep: () => Promise<void>;
  /** Reports progress to a waiting caller. Cheap if the caller did not ask for it. */
  readonly progress: ReportProgress;
  /**
   * Asks the person for what no model may know. Undefined: the person declined or did not answer in time. Rejects with
   * `needs_person` where the person cannot be asked from within the call; let that through, its hint says what to do.
   * `signal`: what the answer is for may end before the call does; an answer that comes later is kept for the next one.
   */
  readonly ask: (question: PersonQuestion, signal?: AbortSignal) => Promise<string | undefined>;
}

export interface CallContext {
  readonly engine: Engine;
  readonly caller: Caller;
  readonly signal: AbortSignal;
  readonly progress?: ReportProgress;
  /** Absent: the caller cannot show the person anything. */
  readonly person?: PersonReach | undefined;
  /** What `Call.body` is to be; its owner overwrites it when the call is over. */
  readonly body?: Uint8Array | undefined;
  /** What makes this the same call as an earlier one, for operations that heed it. */
  readonly key?: CallKey | undefined;
  /** It was held, and its agent has had an answer that says so. */
  readonly replay?: PausedCall | undefined;
}

/** What a stream works with. A stream runs no command lines and asks nothing. */
export type StreamCall<Input> = Pick<Call<Input>, 'input' | 'engine' | 'caller' | 'signal'>;

/** `call()` with the engine already chosen. */
export type CallOperation = (op: AnyOperation, raw: unknown, context: Omit<CallContext, 'engine'>) => Promise<unknown>;

/** Every face ends here. Resolves with output that fits `op.output`; rejects only with FairleadError. */
export async function call<In extends z.ZodType, Out extends z.ZodType>(
  op: Operation<In, Out>,
  raw: unknown,
  context: CallContext,
): Promise<z.output<Out>> {
  const { engine, key, body } = context;
  const track = engine.agents.track(op, raw, context);
  const { caller } = track;
  const operation = operationId(op);
  const what = { operation, access: op.access, terminal: terminalOf(raw), spanMs: op.auditSpanMs, track };
  return await accounted(what, context, async (admit, note) => {
    const input = parseInput(op, raw);
    const commands = op.commands?.(input) ?? [];
    const [judged, hidden] = withoutSecret(op, input, body);
    const about = { ...op.about?.(input), ...hidden };
    note(about);
    const known = engine.agents.admit(track, { op, raw, input, commands, detail: about.detail, context });
    if (known) return known.output as z.output<Out>;
    track.begin();
    const admitCommands = async (lines: readonly string[]): Promise<void> => {
      try {
        await admit(judged, lines);
      } catch (refusal) {
        if (about.detail === undefined) noteAll(lines, note);
        throw refusal;
      }
    };
    await admitCommands(commands);
    if (op.notesCommands !== true && about.detail === undefined) noteAll(commands, note);
    const progress = context.progress ?? ignore;
    const run = (signal: AbortSignal): Promise<z.output<Out>> => {
      const ask = (question: PersonQuestion, stop: AbortSignal = signal) =>
        askPerson(question, { ...context, signal: AbortSignal.any([signal, stop]), progress });
      const nextStep = (): Promise<void> => engine.agents.mayGoOn(track.call.conversation, signal);
      return op.run({ input, body, engine, caller, signal, note, admitCommands, nextStep, progress, ask });
    };
    const same = key && { principal: caller.principal, operation, key, input: raw };
    const output =
      op.keyed === true && same ? await engine.idempotency.once(same, run, context.signal) : await run(context.signal);
    track.answered(output);
    return mayReadAll(caller, input) ? output : engine.withoutKnown(output);
  });
}

/** A person at a command line, and a call that asks to be shown secrets. */
export const mayReadAll = ({ origin }: Caller, input: unknown): boolean =>
  origin === 'cli' || (input as { readonly reveal?: unknown } | null)?.reveal === true;

/** What others than `run` may see of an input: in place of a secret its length, in characters. */
function withoutSecret<In extends z.ZodType>(
  { secretField: field }: Pick<Operation<In>, 'secretField'>,
  input: z.output<In>,
  body: Uint8Array | undefined,
): readonly [unknown, { readonly characters?: number }] {
  if (field === undefined) return [input, {}];
  const { [field]: text, ...rest } = input as Record<string, unknown>;
  const characters = body ? charactersOf(body) : typeof text === 'string' ? [...text].length : 0;
  return [{ ...rest, characters }, { characters }];
}

/** Of UTF-8 text: bytes that do not continue another. */
function charactersOf(text: Uint8Array): number {
  let characters = 0;
  for (const byte of text) if ((byte & 0xc0) !== 0x80) characters += 1;
  return characters;
}

type Admit = (input: unknown, commands?: readonly string[]) => Promise<void>;

function noteAll(commands: readonly string[], note: Call<unknown>['note']): void {
  if (commands.length > 0) note({ detail: commands.join('\n') });
}

interface AccountedCall extends Pick<AuditEntry, 'operation' | 'access' | 'terminal'> {
  readonly spanMs?: number | undefined;
  /** Its row of the timeline; a stream has none. */
  readonly track?: CallTrack | undefined;
}

/** Does what was asked for, and writes down how it ended. Nothing is done before `admit` has asked the gate. */
export async function accounted<T>(
  { spanMs, track, ...what }: AccountedCall,
  { engine, caller, signal }: CallContext,
  work: (admit: Admit, note: Call<unknown>['note']) => Promise<T>,
): Promise<T> {
  const { operation, access } = what;
  const started = engine.clock.monotonic();
  let error: FairleadError | undefined;
  let noted: AuditNote = {};
  let lines = '';
  try {
    const admit: Admit = (input, commands = []) => {
      lines = commands.join('\n');
      return pass(engine.gate, { operation, access, input, commands, caller }, signal);
    };
    return await work(admit, (facts) => {
      noted = { ...noted, ...facts };
      track?.noted(noted);
    });
  } catch (thrown) {
    error = toFairleadError(thrown, signal) ?? incident(thrown, operation, engine.log);
    throw caller.origin === 'cli' ? error : withoutKnown(error, engine);
  } finally {
    const detail = detailOf(noted, engine.redact);
    const { characters } = noted;
    const judged = lines !== '' && lines === noted.detail && !noted.variables && !noted.changes;
    const entry = {
      ...what,
      terminal: what.terminal ?? noted.terminal,
      at: new Date(engine.clock.now()).toISOString(),
      caller: visible(caller.name),
      origin: caller.origin,
      ...(caller.peer === undefined ? {} : { peer: caller.peer }),
      allowed: !refusals.includes(error?.code),
      error: error?.code,
      ...(detail === undefined ? {} : { detail }),
      ...(judged && { judged }),
      ...(characters === undefined ? {} : { characters }),
      ...(caller.call === undefined ? {} : { call: caller.call }),
      durationMs: Math.round(engine.clock.monotonic() - started),
    };
    if (spanMs !== undefined && !error) engine.auditSpans.add(entry, spanMs, signal);
    else if (track?.isRepeat !== true) engine.audit.add({ ...entry, ...track?.facts(error) });
    track?.end(error);
  }
}

const ignore = (): void => {};

/** Errors that say: the caller may not. */
const refusals: readonly unknown[] = ['not_permitted', 'needs_approval', 'revoked'];

/** An error as a model may read it: its words may be those of a program. */
function withoutKnown(error: FairleadError, engine: Engine): FairleadError {
  const { code, message, hint, data } = error;
  const told = { message, hint, data };
  const { hint: safeHint, data: safeData, ...safe } = engine.withoutKnown(told);
  const isSame = JSON.stringify({ ...safe, hint: safeHint, data: safeData }) === JSON.stringify(told);
  if (isSame) return error;
  const extras = { ...(safeHint !== undefined && { hint: safeHint }), ...(safeData && { data: safeData }) };
  return new FairleadError(code, safe.message, extras);
}

function toFairleadError(thrown: unknown, signal: AbortSignal): FairleadError | undefined {
  if (thrown instanceof FairleadError) return thrown;
  if (signal.aborted) return new FairleadError('cancelled', 'The call was cancelled.', { cause: thrown });
  return diskError(thrown);
}

const namesOfTerminals = ['sessionId', 'terminal', 'id', 'session_id', 'shell_id'];

export function terminalOf(raw: unknown): string | undefined {
  const ref = terminalRefOf(raw);
  return ref === undefined ? undefined : visible(String(ref).slice(0, 64));
}

/** The terminal that the arguments name, as they do. */
export function terminalRefOf(raw: unknown): string | number | undefined {
  if (typeof raw !== 'object' || raw === null) return undefined;
  const ref = namesOfTerminals.map((name) => (raw as Record<string, unknown>)[name]).find((one) => one !== undefined);
  return typeof ref === 'string' || typeof ref === 'number' ? ref : undefined;
}
