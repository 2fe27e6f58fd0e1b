import { FairleadError } from '../../../contract/errors.ts';
import { remoteError } from '../../../contract/remote-errors.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { Clock } from '../../../lib/clock.ts';
import { hostAndPort } from '../config/address.ts';
import { channelOf } from '../open/channel-of.ts';
import type { SshProcess } from '../link/link.ts';
import { nearestIds } from '../sessions/nearest.ts';
import type { SshSession } from '../sessions/session.ts';
import { type ShellRequest, SshShell } from './shell.ts';

/** For each session (spec/remote.md section 7). */
export const maxShells = 10;
/** How long the output of a shell that has ended can still be read. */
const keptMs = 300_000;
/** And of how many, for each principal: nobody's shells push out another's. */
const maxEnded = 32;
/** More than anybody sees; a screen is kept of this much, whatever size the far side is told. */
const largestScreen = 1000;

/** The shells of all sessions, each known only to the principal that made it. */
export class SshShells implements Disposable {
  readonly #clock: Clock;
  readonly #shells = new Map<string, SshShell>();
  readonly #timers = new Map<string, Disposable>();
  /** Being opened, by session. */
  readonly #opening = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** One's own, those that have ended and can still be read included. */
  all(principal: string): readonly SshShell[] {
    return [...this.#shells.values()].filter(({ session }) => session.principal === principal);
  }

  /** Throws SHELL_NOT_FOUND, with the closest ids among one's own. */
  find(id: string, principal: string): SshShell {
    const shell = this.#shells.get(id);
    if (shell?.session.principal === principal) {
      shell.session.touch();
      return shell;
    }
    const ids = this.all(principal).map((one) => one.id);
    throw remoteError('SHELL_NOT_FOUND', `no shell with id ${id}`, { context: id, closest: nearestIds(id, ids) });
  }

  async open(engine: Engine, session: SshSession, request: ShellRequest, signal: AbortSignal): Promise<SshShell> {
    const { id } = session;
    const opening = this.#opening.get(id) ?? 0;
    const alive = [...this.#shells.values()].filter((shell) => shell.session.id === id && !shell.closed).length;
    if (alive + opening >= maxShells) {
      throw remoteError('MAX_SHELLS_EXCEEDED', `session ${id} has ${maxShells} shells`, {
        context: `limit=${maxShells}`,
      });
    }
    this.#opening.set(id, opening + 1);
    try {
      return await this.#open(engine, session, request, signal);
    } finally {
      const left = (this.#opening.get(id) ?? 1) - 1;
      if (left > 0) this.#opening.set(id, left);
      else this.#opening.delete(id);
    }
  }

  async close(id: string, principal: string): Promise<void> {
    const shell = this.find(id, principal);
    this.#shells.delete(id);
    await shell.terminal[Symbol.asyncDispose]();
  }

  [Symbol.dispose](): void {
    for (const timer of this.#timers.values()) timer[Symbol.dispose]();
    this.#timers.clear();
  }

  async #open(engine: Engine, session: SshSession, request: ShellRequest, signal: AbortSignal): Promise<SshShell> {
    const leaving = new AbortController();
    let process: SshProcess | undefined;
    const business = session.adopt({
      kind: 'shell',
      sessionEnded: async () => {
        leaving.abort(new FairleadError('unavailable', 'The session has ended.'));
        await process?.[Symbol.asyncDispose]();
      },
    });
    try {
      const { term, size } = request;
      process = await session.shell({ term, size }, {}, AbortSignal.any([signal, leaving.signal]));
      return await this.#adopt(engine, session, process, request, business);
    } catch (error) {
      business[Symbol.dispose]();
      await process?.[Symbol.asyncDispose]();
      throw error;
    }
  }

  async #adopt(
    engine: Engine,
    session: SshSession,
    process: SshProcess,
    request: ShellRequest,
    business: Disposable,
  ): Promise<SshShell> {
    const { principal, username, host, port } = session;
    const size = {
      cols: Math.min(request.size.cols, largestScreen),
      rows: Math.min(request.size.rows, largestScreen),
    };
    const terminal = await engine.adopt(
      { target: `ssh:${username}@${hostAndPort(host, port)}`, size, principal },
      {
        channel: channelOf(process, { pty: true }),
        capacity: request.bufferBytes,
        owner: principal,
        program: 'login shell',
      },
    );
    const shell = new SshShell(session, process, terminal, request, this.#clock);
    this.#shells.set(shell.id, shell);
    engine.sessions.adopt(terminal, shell.id);
    engine.background(
      terminal.whenEnded.then(() => {
        business[Symbol.dispose]();
        shell[Symbol.dispose]();
        this.#keep(engine, shell);
      }),
    );
    engine.background(terminal.whenDisposed.then(() => this.#forget(shell)));
    return shell;
  }

  /** What it printed last can be read for a while. */
  #keep(engine: Engine, shell: SshShell): void {
    if (this.#shells.get(shell.id) !== shell || engine.closing.aborted) return;
    const drop = (one: SshShell): void => engine.background(one.terminal[Symbol.asyncDispose]());
    this.#timers.set(
      shell.id,
      this.#clock.after(keptMs, () => drop(shell)),
    );
    const ended = this.all(shell.session.principal).filter(({ closed }) => closed);
    for (const one of ended.slice(0, -maxEnded)) drop(one);
  }

  #forget(shell: SshShell): void {
    this.#shells.delete(shell.id);
    this.#timers.get(shell.id)?.[Symbol.dispose]();
    this.#timers.delete(shell.id);
  }
}
