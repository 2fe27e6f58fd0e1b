import { FairleadError } from '../../contract/errors.ts';
import type { Clock } from '../../lib/clock.ts';
import { deferred } from '../../lib/deferred.ts';
import type { Emitter } from '../../lib/emitter.ts';
import { Keyboard } from '../input/keyboard.ts';
import { PromptDetector } from '../person/prompts/detector.ts';
import { RecentSecrets } from '../person/recent-secrets.ts';
import { Durable } from '../resume/durable.ts';
import { resumeAt } from '../resume/saved-state.ts';
import { Feeder } from '../screen/feed/feeder.ts';
import { OlderRows } from '../screen/older/older-rows.ts';
import { Screen } from '../screen/screen.ts';
import type { Blocks } from './blocks.ts';
import type { Channel, Ended, Size } from './channel.ts';
import { TerminalCommands } from './organs/commands.ts';
import { exited, gone, mustLive } from './ended.ts';
import { Faults } from './faults.ts';
import { followOutput, type Sign } from './follow.ts';
import { ForegroundWatch } from './organs/foreground-watch.ts';
import { Intake, type OutputEvent } from './intake.ts';
import { type LogRead, OutputLog } from './output-log.ts';
import { historyOffsets, listenFor, TerminalHistory } from './organs/history.ts';
import { TerminalPlace } from './organs/place.ts';
import { repliesFor } from './replies/replies-for.ts';
import type { Replies } from './replies/replies.ts';
import { ScreenFeed } from './organs/screen-feed.ts';
import { State } from './organs/state.ts';
import { identityOf, type TerminalIdentity, type TerminalInit } from './terminal-init.ts';
import { Usage } from './organs/usage.ts';

/** A channel with a memory. One class for every transport. */
export class Terminal implements AsyncDisposable {
  readonly id: string;
  readonly identity: TerminalIdentity;
  readonly clock: Clock;
  readonly log: OutputLog;
  readonly output: Emitter<OutputEvent>;
  readonly screen: Screen;
  readonly blocks: Blocks;
  readonly place: TerminalPlace;
  /** Brings output onto the screen. */
  readonly feed: ScreenFeed;
  /** What it does, pushed on every change. */
  readonly state: State;
  readonly usage: Usage;
  /** What goes into it. */
  readonly input: Keyboard;
  /** What concerns the person: programs that wait for an answer, and the secrets that were typed. */
  readonly person: { readonly prompts: PromptDetector; readonly secrets: RecentSecrets };
  readonly commands = new TerminalCommands();
  /** What outlives this process. */
  readonly durable: Durable;

  readonly #channel: Channel;
  readonly #intake: Intake;
  readonly #replies: Replies;
  readonly #foreground: ForegroundWatch;
  readonly #release: () => void;
  readonly #gone = deferred();
  readonly #faults: Faults;
  /** A background loop has an owner, and the owner waits for it. */
  readonly #pumping: Promise<Ended>;
  #ended: Ended | undefined;
  #disposed: Promise<void> | undefined;

  constructor(init: TerminalInit) {
    const { channel, clock, resumed } = init;
    const { state } = resumed ?? {};
    this.id = init.id;
    this.identity = identityOf(init);
    this.clock = clock;
    this.log = resumed?.log ?? new OutputLog(init.capacity === undefined ? {} : { capacity: init.capacity });
    this.#channel = channel;
    this.#release = init.release;
    const faults = new Faults(init.id, init.report);
    this.#faults = faults;
    const onState = (): void => this.state.check();
    this.#intake = new Intake({ log: this.log, clock, nonce: init.nonce, faults, saved: state, onState });
    this.output = this.#intake.output;
    this.blocks = this.#intake.blocks;
    this.usage = new Usage(clock, this.#intake, new TerminalHistory({ clock, log: this.log, saved: state?.typed }));
    this.place = new TerminalPlace(this.blocks, channel.process);
    const secrets = new RecentSecrets({ clock, release: (bytes) => this.#intake.take(bytes) });
    this.screen = new Screen({
      size: init.size,
      scrollback: init.scrollback,
      theme: init.theme,
      clock,
      reply: (bytes) => !this.#ended && this.#replies.add(bytes, this.feed.shownTo),
      onFault: (thrown) => faults.note(thrown, 'the screen'),
      saved: state && state.screen.length > 0 ? state.screen : undefined,
    });
    const from = resumeAt(this.log, state?.screenAt);
    const feeder = new Feeder(this.log, this.screen, { from, cutAt: () => this.#replies.deadTo });
    const readable = init.readableRows ?? (() => init.scrollback);
    const { log, screen } = this;
    const places = (): readonly number[] => historyOffsets(this);
    const older = new OlderRows({ log, screen, clock, shownTo: () => feeder.parsedTo, readable, places });
    this.feed = new ScreenFeed(channel, secrets, feeder, older);
    this.input = new Keyboard({
      channel,
      clock,
      output: this.output,
      log,
      blocks: this.blocks,
      screen,
      secrets,
      usage: this.usage,
      judge: init.judgeTyped,
      begun: resumed !== undefined,
      asksSecret: () => this.person.prompts.current?.secret === true,
    });
    this.#replies = repliesFor(this, faults, resumed?.seen);
    if (resumed) this.#catchUp(init.size);
    this.state = new State(this, faults, resumed?.endedAt);
    this.person = { prompts: new PromptDetector(this), secrets };
    this.person.prompts.changed.on(onState);
    listenFor(this);
    this.durable = new Durable(this, channel.durable, this.#intake, () => this.#detach());
    this.#foreground = new ForegroundWatch(this);
    this.#pumping = this.#pump();
    if (this.usage.lastOutputMs !== undefined) this.person.prompts.begin();
  }

  get process(): Channel['process'] {
    return this.#channel.process;
  }

  get ended(): Ended | undefined {
    return this.#ended;
  }

  /** Settles when the far side has ended and its last byte is in the log. Never rejects. */
  get whenEnded(): Promise<Ended> {
    return this.#pumping;
  }

  /** Settles when nothing is left of it. Never rejects. */
  get whenDisposed(): Promise<void> {
    return this.#gone.promise;
  }

  /** The output from this offset on, as it arrives: see `followOutput`. */
  follow(from: number, signal: AbortSignal, also?: readonly Sign[]): AsyncGenerator<LogRead, void, void> {
    return followOutput(this, from, signal, also);
  }

  /** Resolves when the screen shows every byte the far side has written so far. */
  async sync(signal: AbortSignal): Promise<void> {
    this.usage.mark();
    await this.feed.sync(signal);
    // A shell that asked at its prompt has its answers before it is typed into.
    await this.#replies.decided;
  }

  /** The emulator first, so that the program's repaint is parsed at the new size. */
  async resize(size: Size, signal: AbortSignal): Promise<void> {
    mustLive(this);
    if (!this.#channel.resize) throw new FairleadError('unsupported', 'This terminal has a fixed size.');
    await this.sync(signal);
    this.screen.resize(size);
    await this.#channel.resize(size);
  }

  /** Ends the far side, waits until it is gone, and forgets what it printed. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#disposed) await this.#channel[Symbol.asyncDispose]();
    this.#disposed ??= this.#dispose(() => this.#channel[Symbol.asyncDispose]());
    await this.#disposed;
  }

  /** The same with a grace period: what runs in it may first save its work. Asked again with less, it has less. */
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

  async #detach(): Promise<void> {
    if (this.#disposed) return await this[Symbol.asyncDispose]();
    this.#disposed = this.#dispose(() => this.#channel.durable?.leave());
    await this.#disposed;
  }

  async #dispose(end: () => PromiseLike<void> | undefined): Promise<void> {
    this.state.close();
    this.input.close(gone());
    this.feed.letFlow();
    try {
      await end();
      await this.#pumping;
      await this.input.whenIdle;
    } finally {
      this.#letGo();
      this.#gone.resolve();
    }
  }

  #letGo(): void {
    const held = [this.person.prompts, this.#foreground, this.person.secrets, this.feed, this.screen];
    for (const free of [...held.map((one) => () => one[Symbol.dispose]()), this.#release]) {
      this.#faults.guard(free, 'the end');
    }
  }

  async #pump(): Promise<Ended> {
    try {
      // The opener of the terminal listens to it first.
      await Promise.resolve();
      await this.#channel.output.consume((chunk) => this.#receive(chunk));
    } catch (cause) {
      return this.#finish({ by: 'lost', reason: cause instanceof Error ? cause.message : 'the output broke off' });
    }
    return this.#finish(await this.#channel.ended);
  }

  /** A promise while the screen is too far behind. */
  #receive(chunk: Uint8Array): Promise<void> | undefined {
    const { secrets } = this.person;
    this.#intake.take(secrets.active ? secrets.mask(chunk) : chunk);
    return this.feed.room();
  }

  #finish(ended: Ended): Ended {
    const { secrets } = this.person;
    if (secrets.active) this.#intake.take(secrets.rest());
    this.#ended = ended;
    this.feed.end();
    this.#faults.guard(() => this.#intake.end(this.state.end()), 'the marks');
    this.input.close(this.#disposed ? gone() : exited(ended));
    this.#replies[Symbol.dispose]();
    this.#foreground[Symbol.dispose]();
    this.state.check();
    return ended;
  }

  /** Takes in what another process had read and not yet told of. */
  #catchUp(size: Size): void {
    if (this.screen.size.cols !== size.cols || this.screen.size.rows !== size.rows) this.screen.resize(size);
    this.#intake.catchUp();
  }
}
