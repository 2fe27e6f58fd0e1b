import type { Launch } from './launch.ts';
import { FairleadError } from '../../contract/errors.ts';
import type { Clock } from '../../lib/clock.ts';
import { deferred } from '../../lib/deferred.ts';
import { Emitter } from '../../lib/emitter.ts';
import { RecentSecrets } from '../person/recent-secrets.ts';
import { PromptDetector } from '../person/prompts/detector.ts';
import type { BlockEvent, Blocks } from './blocks.ts';
import type { Channel, Ended, Signal, Size } from './channel.ts';
import { exited, gone } from './ended.ts';
import { followOutput } from './follow.ts';
import { ForegroundWatch } from './foreground-watch.ts';
import type { ShellEnvironment } from './environment.ts';
import { Intake, type OutputEvent } from './intake.ts';
import { type InputEvent, Keyboard, type KeyboardLane, type LastInput, type TurnOptions } from '../input/keyboard.ts';
import { type SavedState, resumeAt } from '../resume/saved-state.ts';
import { isThisMachine } from './machine-name.ts';
import { Faults } from './faults.ts';
import { type LogRead, OutputLog } from './output-log.ts';
import { Replies } from './replies/replies.ts';
import { ReplyEcho } from './replies/echo.ts';
import { cursorLine, looksLikeShellPrompt } from '../shells/prompt-line.ts';
import { Feeder } from '../screen/feed/feeder.ts';
import { Screen } from '../screen/screen.ts';
import { State } from './state.ts';
import type { TerminalInit } from './terminal-init.ts';
import { Title } from './title.ts';
import type { TypedAs } from '../input/typed-line.ts';

/** A channel with a memory. One class for every transport. */
export class Terminal implements AsyncDisposable {
  readonly id: string;
  readonly target: string;
  readonly owner: string | undefined;
  readonly number: number;
  readonly name: string | undefined;
  readonly launch: Launch;
  readonly program: string;
  readonly notes: readonly string[];
  readonly createdAt: number;
  readonly log: OutputLog;
  readonly screen: Screen;
  readonly blocks: Blocks;
  readonly clock: Clock;

  readonly output: Emitter<OutputEvent>;
  readonly resized = new Emitter<Size>();
  readonly cleared = new Emitter<void>();
  readonly block: Emitter<BlockEvent>;

  /** The environment of its shell, where that can be seen and changed. */
  readonly environment: ShellEnvironment | undefined;

  /** What it does, pushed on every change. */
  readonly state: State;
  readonly title: Title;

  /** Whether a program in it waits for an answer, and whose. */
  readonly prompts: PromptDetector;

  /** Its shell marks prompts and commands with our nonce. */
  readonly marked: boolean;

  readonly #channel: Channel;
  readonly #feeder: Feeder;
  readonly #intake: Intake;
  readonly #keyboard: Keyboard;
  readonly #replies: Replies;
  readonly #replyEcho: ReplyEcho;
  readonly #foreground: ForegroundWatch;
  readonly #release: () => void;
  readonly #gone = deferred();
  readonly #secrets: RecentSecrets;
  readonly #faults: Faults;
  /** A background loop has an owner, and the owner waits for it. */
  readonly #pumping: Promise<Ended>;
  #size: Size;
  #ended: Ended | undefined;
  #endedAt: number | undefined;
  #disposed: Promise<void> | undefined;
  #lastUsed: number;
  /** How many look at it or wait for something in it. */
  #present = 0;

  constructor(init: TerminalInit) {
    this.id = init.id;
    this.target = init.target ?? 'other';
    this.owner = init.owner;
    this.environment = init.environment;
    const { resumed } = init;
    const { state } = resumed ?? {};
    this.log = resumed?.log ?? new OutputLog(init.capacity === undefined ? {} : { capacity: init.capacity });
    this.number = init.number;
    this.name = init.name;
    this.launch = init.launch ?? {};
    this.program = init.program;
    this.notes = init.notes ?? [];
    this.clock = init.clock;
    this.marked = init.nonce !== undefined;
    this.#lastUsed = init.clock.now();
    this.createdAt = resumed?.createdAt ?? this.#lastUsed;
    this.#endedAt = resumed?.endedAt;
    this.#size = init.size;
    this.#channel = init.channel;
    this.#release = init.release;
    this.#faults = new Faults(init.id, init.report);
    this.#intake = new Intake({
      log: this.log,
      clock: init.clock,
      nonce: init.nonce,
      faults: this.#faults,
      saved: state,
      onState: () => this.state.check(),
    });
    this.output = this.#intake.output;
    this.block = this.#intake.block;
    this.blocks = this.#intake.blocks;
    this.#keyboard = new Keyboard({
      channel: init.channel,
      clock: init.clock,
      output: this.output,
      offset: () => this.log.end,
      busy: () => this.blocks.state !== 'unknown' && this.blocks.promptAt === undefined,
      secrets: () => this.#secrets,
      used: () => this.markUsed(),
      pastes: () => this.screen.modes.bracketedPaste,
      judge: init.judgeTyped,
      begun: resumed !== undefined,
    });
    this.screen = new Screen({
      size: init.size,
      scrollback: init.scrollback,
      clock: init.clock,
      reply: (bytes) => this.#reply(bytes),
      onFault: (thrown) => this.#faults.note(thrown, 'the screen'),
      saved: state && state.screen.length > 0 ? state.screen : undefined,
    });
    this.#feeder = new Feeder(this.log, this.screen, {
      from: resumeAt(this.log, state?.screenAt),
      cutAt: () => this.#replies.deadTo,
    });
    const typeReply = (bytes: Uint8Array, mayGo: () => boolean): void => this.#keyboard.reply(bytes, mayGo);
    this.#replyEcho = new ReplyEcho({
      clock: init.clock,
      output: this.output,
      lastInput: () => this.lastInput,
      type: typeReply,
    });
    this.#replies = new Replies({
      clock: init.clock,
      blocks: this.blocks,
      process: init.channel.process,
      offset: () => this.log.end,
      fetch: () => this.fetch(),
      alternate: () => this.screen.alternate,
      behindPrompt: () => looksLikeShellPrompt(cursorLine(this)),
      beforeUnseen: (bytes) => this.#replyEcho.expect(bytes),
      type: typeReply,
      onFault: (thrown) => this.#faults.note(thrown, 'the answers to queries'),
      answeredTo: resumed?.seen,
    });
    if (resumed) this.#catchUp(init.size);
    this.state = new State(this, this.#faults);
    this.title = new Title(this, this.#faults);
    this.prompts = new PromptDetector(this);
    this.prompts.changed.on(() => this.state.check());
    this.#foreground = new ForegroundWatch({
      clock: init.clock,
      signs: [this.output, this.input],
      isNeeded: () => this.state.isUnmarked || this.title.isUntold,
      look: () => {
        this.state.check();
        this.title.check();
      },
    });
    this.#secrets = new RecentSecrets({ clock: init.clock, release: (bytes) => this.#intake.take(bytes) });
    this.#pumping = this.#pump();
    if (this.lastOutputMs !== undefined) this.prompts.begin();
  }

  get size(): Size {
    return this.#size;
  }

  get disposed(): boolean {
    return this.#disposed !== undefined;
  }

  get ended(): Ended | undefined {
    return this.#ended;
  }

  /** When the far side ended, in ms since the epoch. */
  get endedAt(): number | undefined {
    return this.#endedAt;
  }

  /** Settles when the far side has ended and its last byte is in the log. Never rejects. */
  get whenEnded(): Promise<Ended> {
    return this.#pumping;
  }

  /** Settles when nothing is left of it. Never rejects. */
  get whenDisposed(): Promise<void> {
    return this.#gone.promise;
  }

  /** Who remembers it when this process is gone. */
  get durable(): Channel['durable'] {
    return this.#channel.durable;
  }

  /** What another process needs to go on; nothing in the middle of an escape sequence. */
  save(): SavedState | undefined {
    const taken = this.#intake.save();
    const screen = taken && this.screen.save();
    return screen && { screenAt: this.#feeder.parsedTo, screen, ...taken };
  }

  get process(): Channel['process'] {
    return this.#channel.process;
  }

  /** Where the program works: what it told us, else what the machine shows. */
  get cwd(): string | undefined {
    return this.blocks.cwd ?? this.#channel.process?.cwd();
  }

  /** That directory is one of this machine: a shell over ssh or in a container tells a path of its own. */
  get worksHere(): boolean {
    // Before our shell has spoken up with the nonce, its startup files may have led anywhere.
    const isOurs = this.marked && this.blocks.shell !== undefined;
    return this.#channel.process !== undefined && isThisMachine(this.blocks.cwdHost, isOurs);
  }

  /** A directory of this machine in any case, if there is one. */
  get localCwd(): string | undefined {
    return this.worksHere ? this.cwd : this.#channel.process?.cwd();
  }

  /** What anybody typed, as it is sent. */
  get input(): Emitter<InputEvent> {
    return this.#keyboard.events;
  }

  /** Bytes are on their way to the far side, or wait for others that are. */
  get typing(): boolean {
    return this.#keyboard.pendingBytes > 0;
  }

  /** Settles when whoever types now has done so. */
  get whenTyped(): Promise<void> {
    return this.#keyboard.idle();
  }

  get lastInput(): LastInput | undefined {
    return this.#keyboard.last;
  }

  /** Where the output ended when the newest line was entered that the shell was not ready for. */
  get lastAhead(): number | undefined {
    return this.#keyboard.lastAhead;
  }

  /** Monotonic time of the newest output. */
  get lastOutputMs(): number | undefined {
    return this.#intake.lastMs;
  }

  /** How long nothing has come out of it or gone into it. */
  get quietMs(): number {
    const newest = Math.max(this.lastOutputMs ?? -Infinity, this.lastInput?.atMs ?? -Infinity);
    return newest === -Infinity ? this.clock.now() - this.createdAt : this.clock.monotonic() - newest;
  }

  /** The newest sign of life, ours or the program's, in ms since the epoch. */
  get lastActivityAt(): number {
    if (this.#present > 0) return this.clock.now();
    const output = this.lastOutputMs;
    const outputAt = output === undefined ? 0 : this.clock.now() - (this.clock.monotonic() - output);
    return Math.max(this.#lastUsed, Math.round(outputAt));
  }

  /** Somebody looked at it or used it: it is not idle. */
  markUsed(): void {
    this.#lastUsed = this.clock.now();
  }

  /** While held, somebody is there: it is not idle, however quiet it is. */
  keepAwake(): Disposable {
    this.#present += 1;
    let held = true;
    return {
      [Symbol.dispose]: () => {
        if (!held) return;
        held = false;
        this.#present -= 1;
        this.markUsed();
      },
    };
  }

  /** Resolves when the screen shows every byte the far side has written so far. */
  async sync(signal: AbortSignal): Promise<void> {
    this.markUsed();
    await this.fetch(signal);
    // A shell that asked at its prompt has its answers before it is typed into.
    await this.#replies.decided;
  }

  /** The same for looks of our own: they are no use of the terminal. */
  async fetch(signal?: AbortSignal): Promise<void> {
    if (!this.#ended && this.#channel.flush) {
      await this.flush();
      // Flushed bytes reach the log one turn of the loop later, unless the pump has taken them already.
      if (this.#channel.output.size > 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await this.#secrets.released;
    await this.#feeder.sync(signal);
  }

  /** The screen shows exactly the output before this offset. */
  get shownTo(): number {
    return this.#feeder.parsedTo;
  }

  /** Fetches what the far side has written but nobody has read yet; it arrives as output a moment later. */
  flush(): void | Promise<void> {
    return this.#ended ? undefined : this.#channel.flush?.();
  }

  /** The output from this offset on, as it arrives: see `followOutput`. */
  follow(from: number, signal: AbortSignal): AsyncGenerator<LogRead, void, void> {
    return followOutput(this, from, signal);
  }

  /** While held, output is parsed as it arrives: someone waits for it. */
  parseEagerly(): Disposable {
    return this.#feeder.watch();
  }

  /** Sends bytes as one body. Resolves when the far side accepted all of them. */
  async send(bytes: Uint8Array, by: string, signal: AbortSignal, as?: TypedAs): Promise<void> {
    this.#mustLive();
    await this.#keyboard.send(bytes, by, signal, as);
  }

  /** The keyboard for one sender: nobody else's bytes come between those of `work`. Ctrl-C ends the turn. */
  async turn<T>(options: TurnOptions, work: (lane: KeyboardLane) => Promise<T>, signal: AbortSignal): Promise<T> {
    this.#mustLive();
    return await this.#keyboard.turn(options, work, signal);
  }

  /** Ctrl-C, ahead of text that waits. */
  async interrupt(bytes: Uint8Array, by: string, signal: AbortSignal): Promise<void> {
    this.#mustLive();
    await this.#keyboard.interrupt(bytes, by, signal);
  }

  /** The emulator first, so that the program's repaint is parsed at the new size (R-RPC-025). */
  async resize(size: Size, signal: AbortSignal): Promise<void> {
    this.#mustLive();
    if (!this.#channel.resize) {
      throw new FairleadError('unsupported', 'This terminal has a fixed size.');
    }
    await this.sync(signal);
    this.screen.resize(size);
    this.#size = size;
    await this.#channel.resize(size);
    this.resized.emit(size);
  }

  /** Signals the program in the foreground, and nothing else. */
  signal(signal: Signal): void {
    this.#mustLive();
    const { process } = this.#channel;
    if (!process?.signal) throw new FairleadError('unsupported', 'This terminal takes no signals, only keys.');
    process.signal(signal);
  }

  async clear(signal: AbortSignal): Promise<void> {
    await this.sync(signal);
    // A prompt survives; half a line of a running program does not (R-TERM-053).
    this.screen.clear(this.blocks.state !== 'running');
    this.cleared.emit();
  }

  /** Ends the far side, waits until it is gone, and forgets what it printed. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#disposed) await this.#channel[Symbol.asyncDispose]();
    this.#disposed ??= this.#dispose(() => this.#channel[Symbol.asyncDispose]());
    await this.#disposed;
  }

  /** The same for somebody with time: what runs in it may first save its work. Asked again with less, it has less. */
  async endWithin(graceMs: number): Promise<void> {
    if (!this.#channel.endWithin) return await this[Symbol.asyncDispose]();
    if (this.#disposed) await this.#channel.endWithin(graceMs);
    this.#disposed ??= this.#dispose(() => this.#channel.endWithin?.(graceMs));
    await this.#disposed;
  }

  /** Kills everything in it, without waiting for anything. */
  kill(): void {
    this.#channel.kill?.('KILL').catch(() => {});
  }

  /** Lets go of a far side that somebody else remembers, without ending it; unless it is being ended already. */
  async leave(): Promise<void> {
    if (this.#disposed) return await this[Symbol.asyncDispose]();
    this.#disposed = this.#dispose(() => this.durable?.leave());
    await this.#disposed;
  }

  async #dispose(end: () => PromiseLike<void> | undefined): Promise<void> {
    this.#keyboard.close(gone());
    try {
      await end();
      await this.#pumping;
      await this.#keyboard.idle();
    } finally {
      this.#letGo();
      this.#gone.resolve();
    }
  }

  #letGo(): void {
    const held = [this.prompts, this.#foreground, this.#secrets, this.#feeder, this.screen];
    for (const free of [...held.map((one) => () => one[Symbol.dispose]()), this.#release]) {
      this.#faults.guard(free, 'the end');
    }
  }

  async #pump(): Promise<Ended> {
    try {
      // The opener attaches its listeners first.
      await Promise.resolve();
      await this.#channel.output.consume((chunk) => this.#receive(chunk));
    } catch (cause) {
      return this.#finish({ by: 'lost', reason: cause instanceof Error ? cause.message : 'the output broke off' });
    }
    return this.#finish(await this.#channel.ended);
  }

  /** A promise while the screen is too far behind. */
  #receive(chunk: Uint8Array): Promise<void> | undefined {
    this.#intake.take(this.#secrets.active ? this.#secrets.mask(chunk) : chunk);
    return this.#feeder.room();
  }

  #finish(ended: Ended): Ended {
    if (this.#secrets.active) this.#intake.take(this.#secrets.rest());
    this.#ended = ended;
    const endedAt = (this.#endedAt ??= this.clock.now());
    this.#faults.guard(() => this.#intake.end(endedAt), 'the marks');
    this.#keyboard.close(exited(ended));
    this.#replies[Symbol.dispose]();
    this.#replyEcho[Symbol.dispose]();
    this.#foreground[Symbol.dispose]();
    this.state.check();
    return ended;
  }

  /** Takes in what another process had read and not yet told of. */
  #catchUp(size: Size): void {
    if (this.screen.size.cols !== size.cols || this.screen.size.rows !== size.rows) this.screen.resize(size);
    this.#intake.catchUp();
  }

  #reply(bytes: Uint8Array): void {
    if (!this.#ended) this.#replies.add(bytes, this.#feeder.parsedTo);
  }

  #mustLive(): void {
    if (this.#disposed) throw gone();
    if (this.#ended) throw exited(this.#ended);
  }
}
