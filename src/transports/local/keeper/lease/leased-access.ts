import type { ResumableChannel } from '../../../resumable/resumable-channel.ts';
import { decode, encode } from '../../../resumable/messages.ts';
import { type Libc, loadLibc } from '../../pty/libc.ts';
import { type Frame, frameTypes } from '../frames.ts';
import type { Leased, Spawned, Welcome } from '../messages.ts';
import { closeLeased, Descriptors } from './descriptors.ts';
import { LeasedLink } from './leased-link.ts';
import { loadSharedCalls, type SharedCalls } from './shared-calls.ts';
import { type KeeperFrames, type TerminalAccess, type TerminalLink, ThroughKeeper } from './terminal-access.ts';

/** Leases where the system can, unless that is unwanted. */
export async function openAccess(lease: boolean, keeper: KeeperFrames): Promise<TerminalAccess> {
  const libc = await loadLibc();
  const calls = lease ? await loadSharedCalls() : undefined;
  const through = new ThroughKeeper(libc, keeper);
  return calls ? new LeasedAccess(libc, calls, keeper, through) : through;
}

/** Reads and types on descriptors that the keeper leases to this process; what is not leased goes through the keeper. */
class LeasedAccess implements TerminalAccess {
  readonly hello = { direct: true };
  readonly #libc: Libc;
  readonly #calls: SharedCalls;
  readonly #keeper: KeeperFrames;
  readonly #through: TerminalAccess;
  readonly #links = new Map<string, LeasedLink>();
  #descriptors: Descriptors | undefined;

  constructor(libc: Libc, calls: SharedCalls, keeper: KeeperFrames, through: TerminalAccess) {
    this.#libc = libc;
    this.#calls = calls;
    this.#keeper = keeper;
    this.#through = through;
  }

  link(id: string, terminal: Spawned): TerminalLink {
    const link = new LeasedLink({
      libc: this.#libc,
      terminal,
      keeper: this.#through.link(id, terminal),
      post: (type, body) => this.#keeper.post(type, id, encode(body)),
      onFinished: () => this.#links.delete(id),
    });
    this.#links.set(id, link);
    return link;
  }

  connected(socket: string, { ticket }: Welcome): void {
    if (ticket !== undefined) this.#descriptors = Descriptors.open(this.#libc, this.#calls, socket, ticket);
  }

  disconnected(): void {
    this.#descriptors?.[Symbol.dispose]();
    this.#descriptors = undefined;
    for (const link of this.#links.values()) link.disconnected();
  }

  hear({ type, id, body }: Frame, channel: ResumableChannel | undefined): void {
    const link = this.#links.get(id);
    if (type === frameTypes.gone) return link?.programEnded();
    if (type !== frameTypes.lent) return;
    const lease = decode<Leased>(body) ?? {};
    const descriptors = this.#descriptors?.receive(lease.number ?? 0);
    if (descriptors && link && channel) return link.lease(channel, descriptors, lease);
    if (descriptors) closeLeased(descriptors);
    this.#keeper.post('returned', id, encode({ refused: true }));
  }
}
