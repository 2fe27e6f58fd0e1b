import { randomBytes } from 'node:crypto';
import type { FairleadError } from '../../../contract/errors.ts';
import { remoteError } from '../../../contract/remote-errors.ts';
import type { Clock } from '../../../lib/clock.ts';
import { Emitter } from '../../../lib/emitter.ts';
import { uuid7 } from '../../../lib/uuid7.ts';
import { SshCommand, type CommandRequest } from './command.ts';
import { type OpenProcess, startedAtOnce } from '../link/late-process.ts';
import { nearestIds } from '../sessions/nearest.ts';
import type { SshSession } from '../sessions/session.ts';
import type { SshSettings } from '../settings.ts';

interface CommandsOptions {
  readonly clock: Clock;
  readonly settings: Pick<SshSettings, 'commandCleanupMs' | 'commandBufferBytes'>;
  /** What the output of ended commands may take together. */
  readonly keptBytes?: number | undefined;
}

/** Of one session, at the same time. */
const maxRunning = 100;
/** Ended ones of a principal that are kept for their readers; beyond that the one unread for longest goes. */
const maxKept = 1_000;
const defaultKeptBytes = 256 << 20;

const terminal = { term: 'xterm', size: { cols: 80, rows: 24 } };

interface Kept {
  readonly command: SshCommand;
  /** By the steady clock. */
  readonly until: number;
  readonly bytes: number;
}

/** What the ended commands of one principal take. */
interface Share {
  count: number;
  bytes: number;
}

/** Every command that runs or ended a while ago, each known only to the principal whose session it ran on. */
export class Commands implements Disposable {
  /** After one started, ended or was forgotten. */
  readonly changed = new Emitter<void>();
  readonly #options: CommandsOptions;
  readonly #running = new Map<string, SshCommand>();
  /** The one that was used longest ago first. */
  readonly #kept = new Map<string, Kept>();
  readonly #shares = new Map<string, Share>();
  #keptBytes = 0;
  #started = 0;
  #reaper: Disposable | undefined;

  constructor(options: CommandsOptions) {
    this.#options = options;
  }

  /**
   * Resolves when the server has started it; `atOnce`: or when it has to wait for a channel, which it then does by
   * itself, and fails if none comes free. The signal stops the waiting for that, never the command.
   */
  async start(
    session: SshSession,
    request: CommandRequest,
    signal: AbortSignal,
    { atOnce = false }: { readonly atOnce?: boolean } = {},
  ): Promise<SshCommand> {
    if (session.count('command') >= maxRunning) {
      throw remoteError('MAX_COMMANDS_EXCEEDED', `session ${session.id} runs ${maxRunning} commands already`, {
        context: `limit=${maxRunning}`,
      });
    }
    const { clock, settings } = this.#options;
    let command: SshCommand | undefined;
    // Before its channel is open, the session itself lets go of it.
    const place = session.adopt({ kind: 'command', sessionEnded: async (end) => command?.sessionEnded(end) });
    try {
      const open: OpenProcess = (stop, queued) =>
        session.exec(request.command, request.pty ? { pty: terminal } : {}, stop, queued);
      const process = await (atOnce ? startedAtOnce(open, clock, signal) : open(signal, () => {}));
      const id = uuid7(clock.now(), randomBytes(10));
      command = new SshCommand({ id, number: this.#started++, session, request }, process, {
        clock,
        bufferBytes: settings.commandBufferBytes,
      });
    } catch (error) {
      place[Symbol.dispose]();
      throw error;
    }
    this.#running.set(command.id, command);
    this.#keepAtEnd(command, place).catch(() => {});
    this.changed.emit();
    return command;
  }

  /** Throws COMMAND_NOT_FOUND, with the closest ids among one's own. Counts as a reading of an ended one. */
  find(id: string, principal: string): SshCommand {
    const command = this.#running.get(id) ?? this.#kept.get(id)?.command;
    if (command?.principal !== principal) throw this.#notFound(id, principal);
    this.touch(command);
    return command;
  }

  /** One's own, the oldest first; those of all principals if none is given. */
  all(principal: string | undefined): readonly SshCommand[] {
    const every = [...[...this.#kept.values()].map(({ command }) => command), ...this.#running.values()];
    return every
      .filter((command) => principal === undefined || command.principal === principal)
      .toSorted((a, b) => a.number - b.number);
  }

  /** Like `find`, for a look that is no reading of it. */
  peek(id: string, principal: string): SshCommand | undefined {
    const command = this.#running.get(id) ?? this.#kept.get(id)?.command;
    return command?.principal === principal ? command : undefined;
  }

  /** Called on a read: if it has ended, its retention time starts again. */
  touch(command: SshCommand): void {
    if (!this.#kept.has(command.id)) return;
    this.#drop(command.id);
    this.#keep(command);
  }

  [Symbol.dispose](): void {
    this.#reaper?.[Symbol.dispose]();
    this.#kept.clear();
    this.#shares.clear();
  }

  async #keepAtEnd(command: SshCommand, place: Disposable): Promise<void> {
    await command.whenEnded;
    place[Symbol.dispose]();
    this.#running.delete(command.id);
    this.#keep(command);
    this.changed.emit();
  }

  #keep(command: SshCommand): void {
    const { clock, settings, keptBytes = defaultKeptBytes } = this.#options;
    const bytes = command.output.allocated;
    this.#kept.set(command.id, { command, until: clock.monotonic() + settings.commandCleanupMs, bytes });
    this.#account(command.principal, 1, bytes);
    if ((this.#shares.get(command.principal)?.count ?? 0) > maxKept) this.#dropOldest(command.principal);
    // Who keeps most makes room.
    while (this.#keptBytes > keptBytes && this.#kept.size > 1) this.#dropOldest(this.#largest());
    this.#arm();
  }

  #drop(id: string): void {
    const kept = this.#kept.get(id);
    if (kept === undefined) return;
    this.#kept.delete(id);
    this.#account(kept.command.principal, -1, -kept.bytes);
  }

  #dropOldest(principal: string): void {
    for (const [id, { command }] of this.#kept) if (command.principal === principal) return this.#drop(id);
  }

  #largest(): string {
    return [...this.#shares].reduce((most, one) => (one[1].bytes > most[1].bytes ? one : most))[0];
  }

  #account(principal: string, count: number, bytes: number): void {
    const share = this.#shares.get(principal) ?? { count: 0, bytes: 0 };
    share.count += count;
    share.bytes += bytes;
    this.#keptBytes += bytes;
    if (share.count === 0) this.#shares.delete(principal);
    else this.#shares.set(principal, share);
  }

  /** One timer, for the one whose time is up first. */
  #arm(): void {
    const first = this.#kept.values().next().value;
    this.#reaper?.[Symbol.dispose]();
    this.#reaper = undefined;
    if (first === undefined) return;
    const { clock } = this.#options;
    this.#reaper = clock.after(Math.max(0, first.until - clock.monotonic()), () => {
      for (const [id, { until }] of this.#kept) {
        if (until > clock.monotonic()) break;
        this.#drop(id);
      }
      this.changed.emit();
      this.#arm();
    });
  }

  #notFound(id: string, principal: string): FairleadError {
    return remoteError('COMMAND_NOT_FOUND', `no command with id ${id}`, {
      context: id,
      closest: nearestIds(
        id,
        this.all(principal).map((command) => command.id),
      ),
    });
  }
}
