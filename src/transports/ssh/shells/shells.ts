import { remoteError } from '../../../contract/remote-errors.ts';
import type { Engine } from '../../../engine/engine.ts';
import { EndedTerminals } from '../../../engine/reading/ended-terminals.ts';
import { hostAndPort } from '../config/address.ts';
import { channelOf, loginShell } from '../open/channel-of.ts';
import { onSession } from '../open/on-session.ts';
import { nearestIds } from '../sessions/nearest.ts';
import type { SshSession } from '../sessions/session.ts';
import { type ShellRequest, SshShell } from './shell.ts';

/** For each session (docs/requirements/remote.md section 7). */
const maxShells = 10;
const endedLimits = { keptMs: 300_000, perOwner: 32 };
/** The screen kept here is no larger, whatever size the far side is told. */
const largestScreen = 1000;

/** The shells of all sessions, each known only to the principal that made it. */
export class SshShells implements Disposable {
  readonly #shells = new Map<string, SshShell>();
  /** Being opened, by session. */
  readonly #opening = new Map<string, number>();
  #ended: EndedTerminals | undefined;

  /** Those of this principal, or of all, including ended ones that can still be read. */
  all(principal: string | undefined): readonly SshShell[] {
    return [...this.#shells.values()].filter(({ session }) => (principal ?? session.principal) === session.principal);
  }

  /** Throws SHELL_NOT_FOUND, with the closest ids of this principal. */
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
    this.#ended?.[Symbol.dispose]();
  }

  async #open(engine: Engine, session: SshSession, request: ShellRequest, signal: AbortSignal): Promise<SshShell> {
    const { principal, username, host, port } = session;
    const { term, size } = request;
    const opened = await onSession(session, signal, async (stop) => ({
      channel: channelOf(await session.shell({ term, size }, {}, stop), { pty: true }),
      capacity: request.bufferBytes,
      owner: principal,
      program: loginShell,
    }));
    const terminal = await engine.adopt(
      {
        target: `ssh:${username}@${hostAndPort(host, port)}`,
        size: { cols: Math.min(size.cols, largestScreen), rows: Math.min(size.rows, largestScreen) },
        principal,
      },
      opened,
    );
    const shell = new SshShell(session, opened.channel, terminal, request);
    this.#shells.set(shell.id, shell);
    engine.sessions.adopt(terminal, shell.id);
    engine.background(terminal.whenEnded.then(() => this.#whenEnded(engine, shell)));
    engine.background(
      terminal.whenDisposed.then(() => {
        this.#shells.delete(shell.id);
        this.#ended?.forget(terminal);
      }),
    );
    return shell;
  }

  /** What it printed last can be read for a while. */
  #whenEnded(engine: Engine, shell: SshShell): void {
    shell[Symbol.dispose]();
    if (this.#shells.get(shell.id) !== shell || engine.closing.aborted) return;
    this.#ended ??= new EndedTerminals(engine.clock, endedLimits, (terminal) =>
      engine.background(terminal[Symbol.asyncDispose]()),
    );
    this.#ended.keep(shell.terminal);
  }
}
