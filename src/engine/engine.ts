import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { FairleadError } from '../contract/errors.ts';
import { newTerminalId } from '../contract/ids.ts';
import type { Clock } from '../lib/clock.ts';
import { PersonQuestions } from './person/questions/person-questions.ts';
import { Audit } from './call/audit/audit.ts';
import { Agents } from './agents/agents.ts';
import { AuditSpans } from './call/audit-spans.ts';
import type { DurableFarSide, Size } from './terminal/channel.ts';
import { EngineEvents } from './events/engine-events.ts';
import { statusOf } from './events/status.ts';
import { type Gate, openGate } from './call/gate.ts';
import { Idempotency, type IdempotencyLimits } from './call/idempotency.ts';
import { incident, type Log } from '../system/incident.ts';
import type { KeptTerminal, TerminalBefore } from './resume/kept-terminal.ts';
import { decodeFacts, type TerminalFacts } from './resume/terminal-facts.ts';
import { decodeState } from './resume/saved-state.ts';
import { StateSaver } from './resume/state-saver.ts';
import { logCapacity, widenLogs } from './terminal/log-room.ts';
import { type ServiceKey, type ServiceMakers, Services, shuttingDown } from './call/service.ts';
import { Pictures } from './picture/pictures.ts';
import { hideKnown } from './redaction/hide-known.ts';
import type { Redactor } from './redaction/redactor.ts';
import { screenColors } from './picture/color.ts';
import { standard, type Theme } from './picture/themes.ts';
import { secretValues } from './redaction/secret-values.ts';
import { Recordings, type RecordingsOptions } from './recording/recordings.ts';
import { SessionLogs, type SessionLogsOptions } from './recording/log/session-logs.ts';
import { type SessionLimits, Sessions } from './sessions/sessions.ts';
import { systemClock } from '../system/clock.ts';
import { Terminal } from './terminal/terminal.ts';
import type { OpenedChannel, OpenRequest, TargetList, Transport } from './terminal/transport.ts';

export interface EngineOptions {
  /** What can be opened; a request without a target goes to the first. */
  readonly transports: readonly Transport[];
  readonly size: Size;
  /** Rows above the screen that a terminal keeps in its emulator. */
  readonly scrollback: number;
  /** Rows above the screen that can be read; without it, those of the emulator. */
  readonly readableRows?: () => number;
  readonly sessions: SessionLimits;
  readonly recordings: RecordingsOptions;
  /** Undefined: sessions are not logged here. */
  readonly logs?: Omit<SessionLogsOptions, 'clock' | 'log'>;
  readonly picturesDir: string;
  /** The colours in force: of pictures that name no theme, and of what new terminals tell programs that ask. */
  readonly theme?: () => Theme;
  /** What operations find with `engine.part(key)`, each made on first need. */
  readonly parts?: ServiceMakers;
  readonly clock?: Clock;
  readonly gate?: Gate;
  /** The redactor of the moment: it masks secrets in what is written down. */
  readonly redactor?: () => Redactor;
  /** Masks in its place what the engine notes itself. */
  readonly redact?: (text: string) => string;
  readonly idempotency?: IdempotencyLimits;
  /** What the person types to answer a question, as it works on this machine. */
  readonly answerCommand?: string;
  readonly log?: Log;
  /** Terminals that others remember end with this engine, too. */
  readonly endAll?: boolean;
}

/** How long an orderly end may take before the process goes anyway. */
const closeLimitMs = 1500;
/** Of that, for what comes after the last program in a terminal has been killed. */
const afterKillMs = 350;

export class Engine implements AsyncDisposable {
  readonly clock: Clock;
  readonly gate: Gate;
  readonly log: Log | undefined;
  readonly audit = new Audit();
  readonly auditSpans: AuditSpans;
  readonly redact: (text: string) => string;
  readonly events = new EngineEvents((terminal) => statusOf(terminal, this));
  readonly sessions: Sessions;
  readonly recordings: Recordings;
  /** The raw logs of sessions and their markdown; undefined where there are none. */
  readonly logs: SessionLogs | undefined;
  readonly pictures: Pictures;
  /** What the person is asked by the product itself, not by a program in a terminal. */
  readonly questions: PersonQuestions;
  /** What the person types to answer a question; the id of what asks may follow. */
  readonly answerCommand: string;
  readonly idempotency: Idempotency;
  readonly agents: Agents;
  readonly #options: EngineOptions;
  readonly #terminals = new Map<string, Terminal>();
  readonly #keepings = new Map<Terminal, StateSaver>();
  readonly #services: Services;
  readonly #background = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();
  #nextNumber = 0;
  #disposed: Promise<void> | undefined;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#services = new Services(this, options.parts);
    // Every terminal that is being opened listens to it, and they may be many.
    setMaxListeners(0, this.#closing.signal);
    this.clock = options.clock ?? systemClock;
    this.auditSpans = new AuditSpans(this.audit, this.clock, this.closing);
    this.gate = options.gate ?? openGate;
    const { redactor } = options;
    this.redact = options.redact ?? ((text) => redactor?.().redactText(text).text ?? text);
    this.log = options.log;
    this.answerCommand = options.answerCommand ?? 'fairlead answer';
    this.questions = new PersonQuestions(this.clock, this.answerCommand);
    this.idempotency = new Idempotency(this.clock, options.idempotency);
    this.recordings = new Recordings({
      redactor,
      rawLogs: () => this.logs?.rawLogs,
      ...options.recordings,
      clock: this.clock,
      log: this.log,
    });
    this.questions.changed.on((change) => this.events.emit({ kind: 'question', ...change }));
    this.recordings.changed.on((id) => this.#recordingChanged(id));
    this.logs = options.logs && new SessionLogs({ ...options.logs, clock: this.clock, log: this.log });
    this.logs?.changed.on((id) => this.#recordingChanged(id));
    this.pictures = new Pictures(options.picturesDir, () => this.theme);
    this.agents = new Agents(this);
    this.sessions = new Sessions(this, options.sessions, { size: options.size });
  }

  /** The schemes of what can be opened. */
  get targets(): readonly string[] {
    return this.#options.transports.map(({ scheme }) => scheme);
  }

  /** The colours in force. */
  get theme(): Theme {
    return this.#options.theme?.() ?? standard;
  }

  /** Aborted when the engine ends. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  get terminals(): readonly Terminal[] {
    return [...this.#terminals.values()];
  }

  async describeTargets(): Promise<TargetList> {
    const plain = (target: string): TargetList => ({ targets: [{ target, summary: '' }], shells: [] });
    const lists = await Promise.all(this.#options.transports.map(async (one) => one.targets?.() ?? plain(one.scheme)));
    return { targets: lists.flatMap(({ targets }) => targets), shells: lists.flatMap(({ shells }) => shells) };
  }

  /** An answer as a model may read it: without the values that are known to be secrets. */
  withoutKnown<T>(answer: T): T {
    const redactor = this.#options.redactor?.();
    return redactor?.hidesKnown === true ? hideKnown(answer, (text) => redactor.withoutKnown(text)) : answer;
  }

  async open(request: OpenRequest, signal: AbortSignal): Promise<Terminal> {
    for (const value of secretValues(request.env ?? {})) this.#options.redactor?.().learn(value, { byCaller: true });
    const [scheme] = request.target.split(':', 1);
    const transport = this.#options.transports.find((one) => one.scheme === scheme);
    if (!transport) {
      throw new FairleadError('unsupported', `There is no target ${JSON.stringify(request.target)} here.`, {
        hint: `What can be opened: ${this.targets.join(', ')}.`,
      });
    }
    const ending = this.#closing.signal;
    if (ending.aborted) throw shuttingDown();
    const terminalId = this.#newId();
    const opened = await transport.open({ ...request, terminalId }, AbortSignal.any([signal, ending]));
    return await this.#adopt(terminalId, request, opened);
  }

  /** Gives a far side that is open already its terminal. From here on the terminal owns it. */
  async adopt(
    request: Omit<OpenRequest, 'argv' | 'shell' | 'command' | 'cwd' | 'fromHome' | 'env' | 'options'>,
    opened: OpenedChannel,
  ): Promise<Terminal> {
    return await this.#adopt(this.#newId(), request, opened);
  }

  /** Goes on with a terminal that another process served before: the same id, number, screen and offsets. */
  async resume({ id, size, opened, log, state, seen, endedAt, ...left }: KeptTerminal): Promise<Terminal> {
    const facts = decodeFacts(left.facts);
    const { target = 'other', program = '', owner, nonce, name, launch, createdAt = this.clock.now() } = facts ?? {};
    const resumed = { log, state: state && decodeState(state), seen: seen ?? log.end, createdAt, endedAt };
    const request = { target, size, name, launch };
    const before = {
      resumed,
      number: facts?.number,
      next: facts?.next,
      log: facts?.log,
      recordings: facts?.recordings,
    };
    const terminal = await this.#adopt(id, request, { ...opened, program, owner, nonce }, before);
    this.sessions.takeBack(terminal, facts?.role);
    return terminal;
  }

  /** Something about the terminal has changed that outlives this process. */
  noteFacts(terminal: Terminal): void {
    this.#keepings.get(terminal)?.note();
  }

  #recordingChanged(terminalId: string): void {
    const terminal = this.#terminals.get(terminalId);
    if (!terminal) return;
    this.noteFacts(terminal);
    this.events.emit({ kind: 'recording', terminal });
  }

  /** More rows can be read back than before: open terminals keep more of what they print from now on. */
  widenLogs(): void {
    widenLogs(this.terminals, this.#readableRows);
  }

  get #readableRows(): number {
    return this.#options.readableRows?.() ?? this.#options.scrollback;
  }

  #newId(): string {
    return newTerminalId(randomBytes, (taken) => this.#terminals.has(taken));
  }

  async #adopt(
    id: string,
    request: OpenRequest,
    opened: OpenedChannel,
    before: TerminalBefore = {},
  ): Promise<Terminal> {
    // A far side that came up after the end began must not outlive it.
    if (this.#closing.signal.aborted) {
      await opened.channel[Symbol.asyncDispose]();
      opened.release?.();
      throw shuttingDown();
    }
    const readable = this.#readableRows;
    const number = before.number ?? this.#nextNumber;
    this.#nextNumber = Math.max(this.#nextNumber, number + 1, before.next ?? 0);
    const terminal = new Terminal({
      id,
      target: request.target,
      number,
      name: request.name,
      launch: request.launch,
      owner: opened.owner,
      program: opened.program,
      channel: opened.channel,
      capacity: opened.capacity ?? logCapacity(readable, request.size, this.terminals),
      size: request.size,
      scrollback: Math.min(this.#options.scrollback, readable),
      // A smaller number is for terminals that open after it.
      readableRows: () => Math.max(readable, this.#readableRows),
      clock: this.clock,
      theme: this.#options.theme && screenColors(this.theme),
      nonce: opened.nonce,
      notes: opened.notes,
      environment: opened.environment,
      judgeTyped: this.gate.typed,
      resumed: before.resumed,
      report: this.log,
      release: () => {
        this.#guard('a release', () => opened.release?.());
        this.#keepings.get(terminal)?.[Symbol.dispose]();
        this.#keepings.delete(terminal);
        this.#terminals.delete(id);
        this.#noteNext();
        this.#guard('an event', () => this.events.closed(terminal));
      },
    });
    this.#terminals.set(id, terminal);
    if (terminal.durable.farSide)
      this.#keepings.set(terminal, this.#keep(terminal, terminal.durable.farSide, opened.nonce));
    this.#noteNext();
    this.#guard('an event', () => this.events.opened(terminal));
    await this.recordings.resume(terminal, before.recordings ?? []);
    try {
      await this.recordings.autoStart(terminal);
    } catch (error) {
      // With automatic recording, no terminal opens without one.
      await terminal[Symbol.asyncDispose]();
      throw error;
    }
    if (before.resumed) await this.logs?.resumed(terminal, before.log);
    else await this.logs?.opened(terminal);
    return terminal;
  }

  #keep(terminal: Terminal, memory: DurableFarSide, nonce: string | undefined): StateSaver {
    const { number, target, program, createdAt, name, owner, launch } = terminal.identity;
    const role = (): TerminalFacts['role'] => this.sessions.roleOf(terminal);
    const facts = { number, target, program, createdAt, name, owner, nonce, launch };
    return new StateSaver(terminal, memory, () => ({
      ...facts,
      role: role(),
      next: this.#nextNumber,
      log: this.logs?.continues(terminal.id),
      recordings: this.recordings.partsOf(terminal.id),
    }));
  }

  /** The oldest that outlives this process always knows which numbers were given, also to terminals that do not. */
  #noteNext(): void {
    const [oldest] = this.#keepings.values();
    oldest?.note();
  }

  /** What the operations of a book work with. Throws `unsupported` when this engine was made without it. */
  service<T extends AsyncDisposable>(key: ServiceKey<T>): T {
    return this.#services.get(key);
  }

  /** Takes over work that no call waits for; the end of the engine does. What fails is logged. */
  background(work: Promise<unknown>): void {
    const done = work
      .catch((thrown: unknown) => this.#note(thrown, 'the background'))
      .finally(() => this.#background.delete(done));
    this.#background.add(done);
  }

  #note(thrown: unknown, where: string): void {
    if (!isExpected(thrown)) incident(thrown, where, this.log);
  }

  #guard(where: string, work: () => void): void {
    try {
      work();
    } catch (thrown) {
      this.#note(thrown, where);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end(closeLimitMs);
  }

  /** Ends everything in order, and is over after this time in any case. */
  async end(limitMs: number): Promise<void> {
    this.#disposed ??= this.#dispose(limitMs);
    await this.#disposed;
  }

  async #dispose(limitMs: number): Promise<void> {
    const killAt = performance.now() + limitMs - afterKillMs;
    this.#closing.abort();
    this.questions[Symbol.dispose]();
    this.idempotency[Symbol.dispose]();
    this.agents[Symbol.dispose]();
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<'late'>((resolve) => {
      timer = setTimeout(resolve, limitMs, 'late');
    });
    // A step that hangs must not leave programs behind.
    if ((await Promise.race([this.#close(killAt), limit])) === 'late') this.#killAll();
    clearTimeout(timer);
  }

  #killAll(): void {
    for (const terminal of this.terminals) if (!this.#outlives(terminal)) terminal.kill();
  }

  async #close(killAt: number): Promise<void> {
    await this.#endAll('the sessions', [this.sessions]);
    await this.#endAll('the recordings', [this.recordings, ...(this.logs ? [this.logs] : [])]);
    const terminals = this.terminals.map((terminal) => ({
      [Symbol.asyncDispose]: () => this.#letGo(terminal, killAt),
    }));
    await this.#endAll('a terminal', terminals);
    await this.#endAll('a service', this.#services.made);
    await Promise.all(this.#background);
  }

  /** One that fails is logged, and keeps no other from ending. */
  async #endAll(what: string, parts: readonly AsyncDisposable[]): Promise<void> {
    const ended = parts.map(async (part) => await part[Symbol.asyncDispose]());
    for (const end of await Promise.allSettled(ended)) {
      if (end.status === 'rejected') this.#note(end.reason, `the end of ${what}`);
    }
  }

  /** Ends it, unless its channel is kept for the next process. What runs in it has until `killAt` to save its work. */
  async #letGo(terminal: Terminal, killAt: number): Promise<void> {
    if (!this.#outlives(terminal)) return await terminal.endWithin(Math.max(0, killAt - performance.now()));
    const keeping = this.#keepings.get(terminal);
    keeping?.note();
    keeping?.save();
    await terminal.durable.detach();
  }

  #outlives(terminal: Terminal): boolean {
    return this.#keepings.has(terminal) && this.#options.endAll !== true;
  }
}

/** The call was told, or nothing was left to do. */
const isExpected = (thrown: unknown): boolean =>
  thrown instanceof FairleadError && (thrown.code === 'cancelled' || thrown.code === 'terminal_exited');
