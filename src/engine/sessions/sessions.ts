import { FairleadError } from '../../contract/errors.ts';
import { quote } from '../../contract/quote.ts';
import type { TerminalRef } from '../../contract/ids.ts';
import type { Caller } from '../call/call.ts';
import { maySee } from '../call/principal.ts';
import type { Size } from '../terminal/channel.ts';
import type { Engine } from '../engine.ts';
import type { OpenRequest } from '../terminal/transport.ts';
import { commandLine, type Launch } from '../terminal/launch.ts';
import { abortable } from '../../system/abortable.ts';
import { firstPrompt } from '../waiting/answered.ts';
import { describeEnd } from '../terminal/ended.ts';
import { DefaultSessions, ofInstance } from './default-session.ts';
import { calledSo, isWholeNumber, type Nameable } from './lookup.ts';
import { closed, PastSessions, type PastWords, replaced } from './past-sessions.ts';
import { SessionTimers } from './session-timers.ts';
import { TerminalUsers } from './terminal-users.ts';
import type { Terminal } from '../terminal/terminal.ts';

export interface SessionLimits {
  /** Sessions at one time, the default one included. */
  readonly maxSessions: number;
  /** Seconds without a sign of life after which a session is closed; 0 means never. */
  readonly idleTimeout: number;
}

/** Without a target, the engine's first transport opens it. */
interface SessionRequest extends Omit<OpenRequest, 'target' | 'size' | 'principal' | 'launch'> {
  readonly target?: string | undefined;
  readonly cols?: number | undefined;
  readonly rows?: number | undefined;
  readonly title?: string | undefined;
}

type SessionRole = 'default' | 'session';

/** Who asks for a session: one that belongs to another principal is not there for them. */
type SessionCaller = Pick<Caller, 'principal'> & Partial<Pick<Caller, 'client' | 'name' | 'origin' | 'tell' | 'uses'>>;

/** A new session is waited for so long at most; the default one, for which everybody waits, less. */
const createMs = 10_000;
/** From HUP and TERM to KILL when a session is destroyed. */
const graceMs = 3000;

/** The sessions of the terminal book: a default one that is always there, a limit, and an end for the forgotten. */
export class Sessions implements AsyncDisposable {
  readonly limits: SessionLimits;
  readonly #engine: Engine;
  readonly #defaults: { readonly size: Size };
  readonly #all = new Map<string, Terminal>();
  /** Opened elsewhere, by another name and under limits of their own. */
  readonly #aliases = new Map<string, Terminal>();
  readonly #timers: SessionTimers;
  readonly #past = new PastSessions();
  readonly #defaultOf: DefaultSessions;
  readonly #users = new TerminalUsers();
  #opening = 0;

  constructor(engine: Engine, limits: SessionLimits, defaults: { readonly size: Size }) {
    this.#engine = engine;
    this.limits = limits;
    this.#defaults = defaults;
    this.#defaultOf = new DefaultSessions(engine.clock);
    this.#timers = new SessionTimers(engine, limits.idleTimeout * 1000, {
      isOpen: (terminal) => this.#all.get(terminal.id) === terminal,
      isDefaultOf: (terminal, client) => this.#defaultOf.keyOf(terminal) === client.key,
      close: (terminal, words) => {
        this.#defaultOf.vacate(terminal);
        this.#forget(terminal, words);
        engine.background(terminal.endWithin(graceMs));
      },
    });
  }

  /** Of a session that gets no replacement. */
  get size(): Size {
    return this.#defaults.size;
  }

  /**
   * The session of a caller that names none: that of the instance for callers that are no clients of their own, and for the
   * first client that is there; for each other client one of its own.
   */
  default(signal: AbortSignal, whose?: SessionCaller): Promise<Terminal> {
    if (whose?.client) this.#defaultOf.claim(whose.client);
    const key = this.#defaultOf.placeOf(whose?.client);
    const client = key === ofInstance ? undefined : whose?.client;
    // Opened for everyone: the first caller may hang up without taking it away from the others.
    const make = async (): Promise<Terminal> => {
      if (client) this.#makeRoom();
      return await this.#open({}, this.#engine.closing, client && whose && { principal: whose.principal });
    };
    const opening = this.#defaultOf.open(key, make, (terminal) => {
      this.#engine.noteFacts(terminal);
      if (client) this.#timers.closeWhenIdle(terminal, client);
      this.#timers.closeAfterEnd(terminal);
    });
    return abortable(opening, signal);
  }

  async create(request: SessionRequest, whose: SessionCaller, signal: AbortSignal): Promise<Terminal> {
    refuseNumber(request.name);
    this.#makeRoom();
    const terminal = await this.#open(request, signal, { principal: whose.principal, limitMs: createMs });
    this.#users.types(terminal, whose);
    whose.uses?.(terminal);
    this.#timers.closeWhenIdle(terminal);
    this.#timers.closeAfterEnd(terminal);
    return terminal;
  }

  /** Calls it something else, for everyone who uses it. */
  rename(terminal: Terminal, name: string): void {
    refuseNumber(name);
    terminal.identity.name = name;
    this.#engine.noteFacts(terminal);
    this.#engine.events.emit({ kind: 'title', terminal });
  }

  /** The client will not call again: its default session becomes one of the others. */
  clientGone(key: string): void {
    if (key === ofInstance) return;
    this.#defaultOf.drop(key);
    for (const terminal of this.#all.values()) this.#users.leaves(terminal, key);
  }

  /** The terminal that was opened elsewhere under this name. */
  aliasOf(name: string): Terminal | undefined {
    return this.#aliases.get(name);
  }

  /** Notes input that does not come through `forInput`. */
  typesInto(terminal: Terminal, whose: SessionCaller): void {
    this.#users.types(terminal, whose);
  }

  /** The session to type into. A default session whose shell has exited is started again. */
  async forInput(
    ref: TerminalRef | undefined,
    whose: SessionCaller,
    signal: AbortSignal,
  ): Promise<{ terminal: Terminal; restarted: boolean }> {
    const key = this.#defaultOf.placeOf(whose?.client);
    // One that ended was let go meanwhile.
    const again = ref === undefined && !this.#defaultOf.isOpen(key) && this.#defaultOf.idOf(key) !== undefined;
    const terminal = await this.forReading(ref, whose, signal);
    if (!terminal.ended) {
      this.#users.types(terminal, whose);
      return { terminal, restarted: again };
    }
    if (!this.isDefault(terminal, whose)) {
      throw new FairleadError('terminal_exited', `Session '${terminal.id}' ${describeEnd(terminal.ended)}.`, {
        hint: 'Its last screen can still be read; create another session to continue.',
      });
    }
    this.#defaultOf.vacate(terminal);
    this.#forget(terminal, replaced(terminal));
    await terminal[Symbol.asyncDispose]();
    return { terminal: await this.default(signal, whose), restarted: true };
  }

  /** Makes a terminal that was opened elsewhere known here, by its id and by the name it has there. */
  adopt(terminal: Terminal, alias: string): void {
    this.#all.set(terminal.id, terminal);
    this.#aliases.set(alias, terminal);
    this.#engine.background(
      terminal.whenDisposed.then(() => {
        this.#forget(terminal, closed, alias);
        this.#aliases.delete(alias);
      }),
    );
  }

  /** A session that another process had before, in the part it had there. */
  takeBack(terminal: Terminal, role: SessionRole | undefined): void {
    this.#all.set(terminal.id, terminal);
    if (role === 'default' && !this.#defaultOf.isOpen(ofInstance)) this.#defaultOf.take(ofInstance, terminal);
    else this.#timers.closeWhenIdle(terminal);
    this.#timers.closeAfterEnd(terminal);
    this.#engine.noteFacts(terminal);
  }

  roleOf(terminal: Terminal): SessionRole | undefined {
    if (terminal.id === this.#defaultOf.idOf(ofInstance)) return 'default';
    return this.#all.get(terminal.id) === terminal ? 'session' : undefined;
  }

  /** The one that would be meant, without opening or using it. */
  peek(ref: TerminalRef | undefined, whose: SessionCaller): Terminal | undefined {
    if (ref === undefined) return this.#all.get(this.#defaultOf.idOf(this.#defaultOf.placeOf(whose.client)) ?? '');
    try {
      return this.#find(ref, whose);
    } catch {
      return undefined;
    }
  }

  async forReading(ref: TerminalRef | undefined, whose: SessionCaller, signal: AbortSignal): Promise<Terminal> {
    const terminal = ref === undefined ? await this.default(signal, whose) : this.#find(ref, whose);
    this.#users.meets(terminal, whose, this.isDefault(terminal, whose));
    whose.uses?.(terminal);
    terminal.usage.mark();
    return terminal;
  }

  /** Ends a session; answers with its id. */
  async destroy(ref: TerminalRef, whose: SessionCaller, signal: AbortSignal): Promise<string> {
    const terminal = this.#find(ref, whose);
    whose.uses?.(terminal);
    if (this.#defaultOf.keyOf(terminal) !== undefined) {
      throw new FairleadError(
        'not_permitted',
        `Session '${terminal.id}' is the default session and cannot be destroyed`,
      );
    }
    await this.#end(terminal, signal);
    return terminal.id;
  }

  /** Ends any session, the default one included: it comes back when it is next asked for. */
  async close(ref: TerminalRef, whose: SessionCaller, signal: AbortSignal): Promise<string> {
    const terminal = this.#find(ref, whose);
    whose.uses?.(terminal);
    this.#defaultOf.vacate(terminal);
    await this.#end(terminal, signal);
    return terminal.id;
  }

  /** Aborting stops the wait; the session ends regardless. */
  async #end(terminal: Terminal, signal: AbortSignal): Promise<void> {
    this.#forget(terminal, closed);
    const ended = terminal.endWithin(graceMs);
    this.#engine.background(ended);
    await abortable(ended, signal);
  }

  /** Whether it is the one the caller gets when it names none. */
  isDefault(terminal: Terminal, whose?: SessionCaller): boolean {
    return terminal.id === this.#defaultOf.idOf(this.#defaultOf.placeOf(whose?.client));
  }

  all(whose: SessionCaller): readonly Terminal[] {
    return [...this.#all.values()].filter((terminal) => maySee(terminal.identity, whose));
  }

  /** 0 is the default session, whatever its own number is: the first one has it, one that took its place another. */
  numbered(number: number, whose: SessionCaller): Terminal | undefined {
    const found = this.all(whose).find((terminal) => terminal.identity.number === number);
    return found ?? (number === 0 ? this.#all.get(this.#defaultOf.idOf(ofInstance) ?? '') : undefined);
  }

  running(whose: SessionCaller): Terminal[] {
    return this.all(whose).filter((terminal) => !terminal.ended);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#timers[Symbol.dispose]();
  }

  async #open(
    request: SessionRequest,
    signal: AbortSignal,
    { principal, limitMs }: { readonly principal?: string; readonly limitMs?: number } = {},
  ): Promise<Terminal> {
    const { size } = this.#defaults;
    const open: OpenRequest = {
      target: request.target ?? this.#engine.targets[0] ?? '',
      principal,
      argv: request.argv,
      size: { cols: request.cols ?? size.cols, rows: request.rows ?? size.rows },
      shell: request.shell,
      command: request.command,
      cwd: request.cwd,
      fromHome: request.fromHome,
      env: request.env,
      options: request.options,
      ask: request.ask,
      name: request.name,
      launch: launchOf(request),
    };
    this.#opening += 1;
    let terminal: Terminal;
    try {
      terminal = await this.#engine.open(open, signal);
      this.#all.set(terminal.id, terminal);
      this.#engine.noteFacts(terminal);
    } finally {
      // From here on it counts among the open ones.
      this.#opening -= 1;
    }
    try {
      // Text typed before the first prompt would be echoed twice.
      await firstPrompt(terminal, signal, limitMs);
    } catch (error) {
      this.#forget(terminal, closed);
      this.#engine.background(terminal[Symbol.asyncDispose]());
      throw error;
    }
    return terminal;
  }

  #find(ref: TerminalRef, whose: SessionCaller): Terminal {
    const key = String(ref).trim();
    const found =
      this.#all.get(key.toLowerCase()) ??
      this.#aliases.get(key.toLowerCase()) ??
      (/^\d+$/.test(key) ? this.numbered(Number(key), whose) : undefined);
    if (found && maySee(found.identity, whose)) return found;
    const called = calledSo(
      key,
      this.all(whose).map((terminal) => ({ ...nameable(terminal), terminal })),
    );
    if (called) return called.terminal;
    const end = found ? undefined : this.#past.endOf(quote(key), whose.principal);
    if (end) throw end;
    throw new FairleadError('terminal_not_found', `Session '${quote(key)}' not found`, {
      data: { terminal: quote(key) },
    });
  }

  /** A session that has exited gives way to a new one. */
  #makeRoom(): void {
    const { maxSessions } = this.limits;
    // The default session has its place even before it is opened.
    const waiting = this.#opening + (this.#defaultOf.isOpen(ofInstance) ? 0 : 1);
    if (this.#all.size - this.#aliases.size + waiting < maxSessions) return;
    for (const terminal of this.#all.values()) {
      if (!terminal.ended || this.#defaultOf.keyOf(terminal) !== undefined || this.#isAdopted(terminal)) continue;
      this.#forget(terminal, replaced(terminal));
      this.#engine.background(terminal[Symbol.asyncDispose]());
      return;
    }
    throw new FairleadError('limit_reached', `The limit of ${maxSessions} sessions is reached`, {
      hint: 'Destroy one you no longer need, or start the server with a higher --max-sessions.',
    });
  }

  #isAdopted(terminal: Terminal): boolean {
    return [...this.#aliases.values()].includes(terminal);
  }

  #forget(terminal: Terminal, words: PastWords, alias?: string): void {
    this.#all.delete(terminal.id);
    this.#timers.stop(terminal);
    this.#past.remember(terminal, words, alias);
  }
}

/** Sessions have numbers besides their names, and a number always means the number. */
function refuseNumber(name: string | undefined): void {
  if (name === undefined || !isWholeNumber(name)) return;
  throw new FairleadError('invalid_input', `A session cannot be called ${name}: that would be the number of one.`, {
    hint: 'Give it a name with a letter in it.',
  });
}

function launchOf({ argv, command = argv && commandLine(argv), title, env = {} }: SessionRequest): Launch {
  const names = Object.keys(env);
  return {
    ...(command === undefined ? {} : { command }),
    ...(title === undefined ? {} : { title }),
    ...(names.length === 0 ? {} : { env: names }),
  };
}

const nameable = ({ identity: { number, name }, id, ended }: Terminal): Nameable => ({
  number,
  id,
  name,
  isLive: !ended,
});
