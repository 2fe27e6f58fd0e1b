import type { ErrorCode, FairleadError } from '../../contract/errors.ts';
import { visible } from '../../contract/quote.ts';
import type { Caller } from '../call/call.ts';
import type { AuditEntry, CallPhase, CallPlace } from '../call/audit/audit.ts';
import { type AuditNote, detailOf, preview } from '../call/audit/note.ts';
import type { Engine } from '../engine.ts';
import { recordingMoment } from '../recording/recording-of.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { agentName } from './identity.ts';
import type { AgentConversation } from './conversation.ts';
import type { PausedCall } from './hold-queue.ts';
import type { CallRow } from './shapes.ts';
import { sizeOf } from './size-of.ts';

/** What a call is about before it runs. */
export interface TrackedCall {
  readonly id: string;
  readonly operation: string;
  readonly access: AuditEntry['access'];
  readonly isCommand: boolean;
  readonly raw: unknown;
  readonly caller: Caller;
  /** Absent: a person calls. */
  readonly conversation: AgentConversation | undefined;
  /** It was held before, and runs now. */
  readonly replay: PausedCall | undefined;
  /** The terminal as the arguments name it. */
  readonly terminalRef: string | number | undefined;
  /** Rows of this call are shown. */
  readonly isShown: boolean;
}

const longestPreview = 200;

const phasesOfErrors: Partial<Record<ErrorCode, CallPhase>> = {
  held: 'held',
  needs_approval: 'pending',
  not_permitted: 'denied',
  revoked: 'denied',
  hold_queue_full: 'denied',
};

/** One call under way: which terminal it uses, how far it is, what the timeline shows of it. */
export class CallTrack {
  readonly call: TrackedCall;
  /** The caller as the operation gets it: it tells which terminal it looks up. */
  readonly caller: Caller;
  /** An answer that was given before: it counts as no call of its own. */
  isRepeat = false;
  readonly #engine: Engine;
  readonly #put: (row: CallRow) => void;
  readonly #at: number;
  readonly #startedMs: number;
  #preview: string;
  #held: PausedCall | undefined;
  #hasBegun = false;
  #terminal: Terminal | undefined;
  #from = 0;
  #recording: CallPlace['recording'];
  #bytes = 0;
  #exit: number | undefined;

  constructor(call: TrackedCall, engine: Engine, put: (row: CallRow) => void) {
    this.call = call;
    this.#engine = engine;
    this.#put = put;
    this.#at = call.replay?.since ?? engine.clock.now();
    this.#startedMs = engine.clock.monotonic();
    const words = call.access === 'observe' ? preview(engine.redact(argumentsOf(call.raw)), longestPreview) : '';
    this.#preview = call.replay?.preview ?? words;
    this.caller = { ...call.caller, call: call.id, uses: (terminal) => this.#uses(terminal) };
  }

  /** The terminal that it looked up, once it has. */
  get terminal(): Terminal | undefined {
    return this.#terminal;
  }

  /** It goes on: from here on it has a row. */
  begin(): void {
    this.#hasBegun = true;
    this.#show('received');
  }

  noted(note: AuditNote): void {
    const text = detailOf(note, this.#engine.redact, longestPreview);
    if (text === undefined || text === this.#preview) return;
    this.#preview = text.slice(0, longestPreview);
    if (this.#hasBegun) this.#show('received');
  }

  /** It waits for the person. */
  hold(held: PausedCall): void {
    this.#held = held;
    this.#preview = held.preview;
  }

  answered(output: unknown): void {
    this.#bytes = sizeOf(output);
    const { exitCode, exit_code } = (output ?? {}) as Readonly<Record<string, unknown>>;
    const exit = exitCode ?? exit_code;
    if (typeof exit === 'number') this.#exit = exit;
  }

  /** What the audit trail keeps of it besides the rest, when it is over. */
  facts(error: FairleadError | undefined): Partial<AuditEntry> {
    const { id, conversation, isCommand } = this.call;
    const place = this.#place();
    return {
      call: id,
      ...(conversation && { conversation: conversation.id }),
      phase: this.#phaseOf(error),
      ...(isCommand && { isCommand }),
      ...(place && { place }),
      ...(this.#held && { detail: this.#held.preview }),
      bytes: this.#bytes,
    };
  }

  end(error: FairleadError | undefined): void {
    if (this.isRepeat) return;
    const { until, terminal } = this.#held ?? {};
    this.#show(this.#phaseOf(error), {
      ...(error && { code: error.code }),
      ...(until === undefined ? {} : { until }),
      ...(terminal && { terminal: terminal.id }),
    });
  }

  #phaseOf(error: FairleadError | undefined): CallPhase {
    const { replay } = this.call;
    if (!error) return replay ? 'replayed' : 'executed';
    // The server ended in its midst.
    if (replay && error.code === 'cancelled') return 'unknown';
    // A read is not queued.
    if (error.code === 'held' && !this.#held) return 'denied';
    return phasesOfErrors[error.code] ?? 'failed';
  }

  #uses(terminal: Terminal): void {
    if (this.#terminal) return;
    this.#terminal = terminal;
    this.#from = terminal.log.end;
    this.#recording = recordingMoment(terminal.id, this.#engine, this.#engine.clock.now());
    const { conversation, access, caller } = this.call;
    if (conversation && access !== 'observe') this.#engine.agents.conversations.types(conversation, terminal.id);
    caller.uses?.(terminal);
  }

  #place(): CallPlace | undefined {
    const terminal = this.#terminal;
    if (!terminal) return undefined;
    const block = this.call.access === 'observe' ? undefined : firstBlockFrom(terminal, this.#from);
    const exit = block?.exitCode ?? this.#exit;
    return {
      terminal: terminal.id,
      from: this.#from,
      to: terminal.log.end,
      ...(block && { block: block.id }),
      ...(exit === undefined ? {} : { exit }),
      ...(this.#recording && { recording: this.#recording }),
    };
  }

  #show(phase: CallPhase, extra: Partial<CallRow> = {}): void {
    const { id, conversation, operation, access, isCommand, caller, isShown } = this.call;
    if (!isShown) return;
    this.#put({
      id,
      at: this.#at,
      ...(conversation && { conversation: conversation.id }),
      who: { kind: conversation ? 'agent' : 'person', name: agentName(caller.name) },
      op: operation,
      access,
      isCommand,
      phase,
      preview: this.#preview,
      bytes: this.#bytes,
      ms: Math.round(this.#engine.clock.monotonic() - this.#startedMs),
      ...this.#place(),
      ...(this.#terminal === undefined && this.#exit !== undefined && { exit: this.#exit }),
      ...extra,
    });
  }
}

/** The first command that began behind this offset. */
function firstBlockFrom({ blocks }: Terminal, from: number) {
  let first: ReturnType<typeof blocks.find>;
  for (let at = blocks.list.length - 1; at >= 0; at--) {
    const block = blocks.list[at];
    if (!block || block.outputFrom < from) break;
    first = block;
  }
  return first;
}

/** The plain arguments of a read in one line. */
export function argumentsOf(raw: unknown): string {
  if (typeof raw !== 'object' || raw === null) return '';
  const shown = Object.entries(raw).filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value));
  return visible(shown.map(([name, value]) => `${name}=${String(value).slice(0, longestPreview)}`).join(' '));
}
