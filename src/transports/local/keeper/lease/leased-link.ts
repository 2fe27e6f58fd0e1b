import type { ProcessView } from '../../../../engine/terminal/channel.ts';
import type { ChannelFrame } from '../../../resumable/frame-link.ts';
import { decode } from '../../../resumable/messages.ts';
import type { ResumableChannel } from '../../../resumable/resumable-channel.ts';
import type { Libc } from '../../pty/libc.ts';
import type { KeeperResize, Leased, Returned, Spawned } from '../messages.ts';
import type { TerminalLink } from './terminal-access.ts';
import { closeLeased, type LeasedDescriptors } from './descriptors.ts';
import { eitherView, LeasedTerminal } from './leased-terminal.ts';

interface LeasedLinkInit {
  readonly libc: Libc;
  readonly terminal: Spawned;
  /** The way without a lease. */
  readonly keeper: TerminalLink;
  readonly post: (type: 'returned' | 'resize', body: Returned | KeeperResize) => boolean;
  readonly onFinished: () => void;
}

/** The way to a terminal that the keeper leases to this process from time to time. Frames are answered here during a lease. */
export class LeasedLink implements TerminalLink {
  readonly process: ProcessView;
  readonly #init: LeasedLinkInit;
  #lease: LeasedTerminal | undefined;
  /** Secrets that the keeper was told over this connection. */
  #conceals = 0;

  constructor(init: LeasedLinkInit) {
    this.#init = init;
    this.process = eitherView(() => this.#lease?.process, init.keeper.process);
  }

  get isLeased(): boolean {
    return this.#lease !== undefined;
  }

  send(type: ChannelFrame, body?: Uint8Array, offset = 0): boolean {
    // The keeper masks secrets, so it has to read.
    if (type === 'conceal') this.#end();
    if (body && this.#lease && type === 'resize') return this.#resize(this.#lease, body);
    if (this.#lease?.send(type, body, offset)) return true;
    const isHeard = this.#init.keeper.send(type, body, offset);
    if (type === 'conceal' && isHeard) this.#conceals += 1;
    return isHeard;
  }

  delivered(): Promise<void> {
    return this.#init.keeper.delivered();
  }

  finished(): void {
    this.#end();
    this.#init.keeper.finished();
    this.#init.onFinished();
  }

  disconnected(): void {
    this.#end();
    this.#conceals = 0;
  }

  /** The keeper has sent all it read. The lease is returned if it is not, or no longer, for this process to read. */
  lease(channel: ResumableChannel, descriptors: LeasedDescriptors, { epoch = 0, conceals = 0 }: Partial<Leased>): void {
    const { memory } = descriptors;
    const isOurs = channel.isOpen && !this.#lease && memory.head === channel.received && memory.epoch === epoch;
    if (!isOurs || conceals !== this.#conceals) {
      closeLeased(descriptors);
      return void this.#init.post('returned', { refused: !isOurs });
    }
    const { libc, terminal } = this.#init;
    const onReclaimed = (): void => this.#end(false);
    this.#lease = new LeasedTerminal({ ...descriptors, libc, epoch, terminal, channel, onReclaimed });
    // Output that was printed while neither side read.
    this.#lease.flush();
  }

  /** Reads what the program left behind; after that the keeper reports the end. */
  programEnded(): void {
    this.#lease?.drain();
    this.#end();
  }

  /** Here and now, so that keys typed after it come after it; the keeper only records it. */
  #resize(lease: LeasedTerminal, body: Uint8Array): boolean {
    const size = decode<KeeperResize>(body) as KeeperResize;
    lease.resize(size);
    return this.#init.post('resize', { ...size, done: true });
  }

  /** The keeper reads and types on from here, unless it has reclaimed the terminal already. */
  #end(returns = true): void {
    const lease = this.#lease;
    this.#lease = undefined;
    lease?.stop();
    if (lease && returns) this.#init.post('returned', {});
    lease?.repeatInput();
  }
}
