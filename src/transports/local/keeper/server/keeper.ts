import { existsSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { FairleadError } from '../../../../contract/errors.ts';
import { systemClock } from '../../../../system/clock.ts';
import type { LinuxPty } from '../../pty/pty-linux.ts';
import type { SharedCalls } from '../lease/shared-calls.ts';
import type { LocalTarget } from '../../target.ts';
import type { Size } from '../../../../engine/terminal/channel.ts';
import type { Clock } from '../../../../lib/clock.ts';
import { Conversation } from './conversation.ts';
import { FrameFaults } from '../frame-faults.ts';
import { type Frame, FrameReader, frame, frameTypes } from '../frames.ts';
import { KeeperTerminal } from './keeper-terminal.ts';
import { terminalLog } from '../lease/terminal-log.ts';
import { decode, encode } from '../../../resumable/messages.ts';
import type { Hello, Spawn } from '../messages.ts';
import { OrphanedLeases } from '../lease/orphaned-leases.ts';

export interface KeeperOptions {
  /** Opens a program on a pseudo-terminal; throws a FairleadError that says why not. */
  readonly open: (target: LocalTarget, size: Size) => LinuxPty;
  /** Called once, when the keeper holds nothing any more. */
  readonly onEmpty: () => void;
  /** Becomes another program, which owns the terminals from here on. */
  readonly replace?: (argv: readonly [string, ...string[]], terminals: readonly KeeperTerminal[]) => void;
  /** Without it there are no leases. */
  readonly shared?: SharedCalls | undefined;
  /** Gets our own faults. */
  readonly complain?: (error: unknown) => void;
  readonly clock?: Clock;
  readonly limits?: Partial<KeeperLimits>;
  readonly terminals?: readonly KeeperTerminal[];
}

export interface KeeperLimits {
  /** How long a keeper without terminals and client lives. */
  readonly emptyMs: number;
  /** How long an ended terminal stays readable after an instance was told of its end. */
  readonly readableMs: number;
  /** How long it stays readable if no instance was. */
  readonly unheardMs: number;
  /** How long a client may take to answer a ping. */
  readonly answerMs: number;
}

const defaults: KeeperLimits = {
  emptyMs: 60_000,
  readableMs: 10 * 60_000,
  unheardMs: 24 * 3600_000,
  answerMs: 1000,
};
/** A connection without a hello is closed after this time. */
const helloMs = 5000;
/** The grace that the engine gives programs. */
const graceMs = 3000;
const smallestRing = 256 << 10;
const largestRing = 64 << 20;

/** Terminals that outlive the instances that open them. A keeper reads, stores and types bytes, and interprets none. */
export class Keeper {
  readonly #options: KeeperOptions;
  readonly #limits: KeeperLimits;
  readonly terminals = new Map<string, KeeperTerminal>();
  readonly faults = new FrameFaults();
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #client: { readonly socket: Socket; readonly talk: Conversation } | undefined;
  #orphaned: OrphanedLeases | undefined;
  #path = '';
  /** How many times in a row its socket was missing. */
  #unreachable = 0;
  readonly #clock: Clock;
  #emptySinceMs: number;
  #watch: Disposable | undefined;

  constructor(options: KeeperOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#emptySinceMs = this.#clock.monotonic();
    this.#limits = { ...defaults, ...options.limits };
    for (const terminal of options.terminals ?? []) this.terminals.set(terminal.id, terminal);
    this.#server = createServer((socket) => this.#accept(socket));
    this.#arm();
  }

  #arm(): void {
    const { emptyMs, readableMs } = this.#limits;
    const everyMs = Math.max(5, Math.min(emptyMs, readableMs, 20_000) / 4);
    this.#watch = this.#clock.after(everyMs, () => {
      this.#arm();
      this.#tidy();
    });
  }

  /** Only the owner can connect: the socket has mode 0600, in a private folder. */
  listen(path: string): Promise<void> {
    this.#path = path;
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      const before = process.umask(0o177);
      try {
        this.#server.listen(path, () => resolve());
      } finally {
        process.umask(before);
      }
    });
  }

  /** Ends every terminal, then itself. Programs have the usual grace to save their work. */
  async end(): Promise<void> {
    await Promise.all([...this.terminals.values()].map((terminal) => terminal.terminate(graceMs)));
    this.close();
    this.#options.onEmpty();
  }

  /** Becomes another program with all its terminals. */
  replace(argv: readonly [string, ...string[]]): void {
    if (!this.#options.replace) return;
    this.close();
    this.#options.replace(argv, [...this.terminals.values()]);
  }

  complain(thrown: unknown): void {
    this.#options.complain?.(thrown);
  }

  /** Accepts no more clients and drops the present one. */
  close(): void {
    this.#watch?.[Symbol.dispose]();
    this.#server.close();
    this.#client?.talk[Symbol.dispose]();
    this.#client = undefined;
    this.#reclaim();
    for (const socket of this.#sockets) socket.destroy();
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    const reader = new FrameReader();
    let talk: Conversation | undefined;
    let greeting: Promise<void> | undefined;
    let early: Frame[] = [];
    const limit = setTimeout(() => socket.destroy(), helloMs);
    const broken = (thrown: unknown): void => {
      socket.destroy(thrown instanceof Error ? thrown : new Error(String(thrown)));
    };
    const hear = (to: Conversation, frames: readonly Frame[]): void => {
      try {
        to.hear(frames);
      } catch (thrown) {
        broken(thrown);
      }
    };
    socket.on('data', (chunk: Buffer) => {
      let frames: Frame[];
      try {
        frames = reader.push(chunk);
      } catch {
        // Without frames there is no way to find the next one.
        return void socket.destroy();
      }
      if (talk) return hear(talk, frames);
      early.push(...frames);
      const [first] = early;
      if (greeting || !first) return;
      clearTimeout(limit);
      greeting = this.#greet(socket, first).then((accepted) => {
        talk = accepted;
        const [, ...rest] = early;
        early = [];
        if (talk) hear(talk, rest);
      });
      greeting.catch(broken);
    });
    socket.on('error', (error) => {
      // A broken connection is no fault of ours.
      if (!('syscall' in error)) this.complain(error);
    });
    socket.on('close', () => {
      clearTimeout(limit);
      this.#sockets.delete(socket);
      if (this.#client?.socket === socket) this.#orphan();
      this.#emptySinceMs = this.#clock.monotonic();
    });
  }

  /** The connection of the client is over; its process may still read the terminals that it leases. */
  #orphan(): void {
    const talk = this.#client?.talk;
    this.#client = undefined;
    if (talk?.part()) this.#orphaned = new OrphanedLeases(talk, () => this.#reclaim());
    else talk?.[Symbol.dispose]();
  }

  #reclaim(): void {
    this.#orphaned?.[Symbol.dispose]();
    this.#orphaned = undefined;
  }

  /** One client at a time. A client that is dead or silent gives way to the new one; otherwise the new one is refused. */
  async #greet(socket: Socket, first: Frame): Promise<Conversation | undefined> {
    const hello = first.type === frameTypes.hello ? decode<Hello>(first.body) : undefined;
    if (typeof hello?.pid !== 'number' || typeof hello.version !== 'number') {
      socket.destroy();
      return undefined;
    }
    if (hello.ticket !== undefined) {
      if (!this.#client?.talk.attach(socket, hello.ticket)) socket.destroy();
      return undefined;
    }
    if (hello.version < 1) {
      socket.end(frame('refused', '', encode({ reason: 'version' })));
      return undefined;
    }
    for (let before = this.#client; before && !before.socket.destroyed; before = this.#client) {
      const isSame = before.talk.pid === hello.pid;
      // A process that reconnects replaces itself. While it leases terminals, its old connection has to end first.
      if (isSame && !before.talk.mayRead) break;
      const isThere = isSame || (await before.talk.isThere(this.#limits.answerMs));
      // A stopped process that leases terminals would take output from the new client when it continues.
      if (isThere || before.talk.mayRead) {
        const silent = isThere ? {} : { silent: true };
        socket.end(frame('refused', '', encode({ reason: 'busy', pid: before.talk.pid, ...silent })));
        return undefined;
      }
      // Meanwhile another client may have replaced it.
      if (this.#client === before) break;
    }
    if (socket.destroyed) return undefined;
    if (this.#client?.socket.destroyed) this.#orphan();
    const { talk: gone } = this.#orphaned ?? {};
    if (gone && gone.pid !== hello.pid && gone.mayRead) {
      socket.end(frame('refused', '', encode({ reason: 'busy', pid: gone.pid, silent: true })));
      return undefined;
    }
    this.#reclaim();
    this.#client?.talk[Symbol.dispose]();
    this.#client?.socket.destroy();
    const talk = new Conversation(socket, hello.pid, this, hello.direct ? this.#options.shared : undefined);
    this.#client = { socket, talk };
    talk.welcome(hello.wanted ?? {});
    return talk;
  }

  spawn(id: string, spawn: Partial<Spawn>): KeeperTerminal {
    const { argv, env, cols, rows, cwd, folder, about, capacity, umask } = spawn;
    if (id === '' || this.terminals.has(id) || !argv?.[0] || !env || cols === undefined || rows === undefined) {
      throw new FairleadError('invalid_input', 'The keeper got an invalid request to open a terminal.');
    }
    const size = { cols, rows };
    // Before the program runs: nothing after it may fail.
    const log = terminalLog(this.#options.shared, Math.min(largestRing, Math.max(smallestRing, capacity ?? 4 << 20)));
    const before = umask === undefined ? undefined : process.umask(umask & 0o777);
    let channel: LinuxPty;
    try {
      channel = this.#options.open({ argv, env, ...(cwd === undefined ? {} : { cwd }) }, size);
    } catch (thrown) {
      log[Symbol.dispose]?.();
      throw thrown;
    } finally {
      if (before !== undefined) process.umask(before);
    }
    const terminal = new KeeperTerminal({
      id,
      channel,
      pid: channel.process.pid,
      terminal: channel.terminal,
      size,
      log,
      clock: this.#clock,
      folder,
      about,
    });
    this.terminals.set(id, terminal);
    return terminal;
  }

  forget(terminal: KeeperTerminal): void {
    this.#client?.talk.leave(terminal);
    terminal[Symbol.dispose]();
    this.terminals.delete(terminal.id);
    this.#emptySinceMs = this.#clock.monotonic();
  }

  #tidy(): void {
    const now = this.#clock.monotonic();
    const { readableMs, unheardMs, emptyMs } = this.#limits;
    for (const terminal of this.terminals.values()) {
      if (!terminal.ended) continue;
      const heard = terminal.toldMs !== undefined && now - terminal.toldMs >= readableMs;
      const old = this.#clock.now() - (terminal.listed.endedAt ?? 0) >= unheardMs;
      if (heard || old) this.forget(terminal);
    }
    // Without its socket no instance finds the keeper again, and its terminals would run for ever.
    this.#unreachable = this.#client || existsSync(this.#path) ? 0 : this.#unreachable + 1;
    if (this.#unreachable === 2) void this.end().catch(() => {});
    if (this.terminals.size > 0 || this.#sockets.size > 0) this.#emptySinceMs = now;
    else if (now - this.#emptySinceMs >= emptyMs) {
      this.close();
      this.#options.onEmpty();
    }
  }
}
