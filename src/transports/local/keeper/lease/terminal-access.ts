import type { ProcessView } from '../../../../engine/terminal/channel.ts';
import type { FrameLink } from '../../../resumable/frame-link.ts';
import type { ResumableChannel } from '../../../resumable/resumable-channel.ts';
import type { Libc } from '../../pty/libc.ts';
import { deviceView } from '../client/device-view.ts';
import type { Frame, FrameType } from '../frames.ts';
import type { Hello, Spawned, Welcome } from '../messages.ts';

/** The client's connection to its keeper, whichever it is at the moment. */
export interface KeeperFrames {
  /** False if the frame may be lost. */
  post(type: FrameType, id: string, body?: Uint8Array, offset?: number): boolean;
  delivered(): Promise<void>;
}

/** The way to one terminal. */
export interface TerminalLink extends FrameLink {
  readonly process: ProcessView;
  readonly isLeased: boolean;
}

/** How this process reads and types into the terminals of a keeper: through the keeper, or with descriptors that it leases. */
export interface TerminalAccess {
  readonly hello: Pick<Hello, 'direct'>;
  link(id: string, terminal: Spawned): TerminalLink;
  connected(socket: string, welcome: Welcome): void;
  /** The connection has ended, or is about to: from here on the keeper reads. */
  disconnected(): void;
  /** A frame about the access to a terminal, and the channel of that terminal. */
  hear(frame: Frame, channel: ResumableChannel | undefined): void;
}

export class ThroughKeeper implements TerminalAccess {
  readonly hello = { direct: false };
  readonly #libc: Libc;
  readonly #keeper: KeeperFrames;

  constructor(libc: Libc, keeper: KeeperFrames) {
    this.#libc = libc;
    this.#keeper = keeper;
  }

  link(id: string, terminal: Spawned): TerminalLink {
    const keeper = this.#keeper;
    let isOpen = true;
    return {
      send: (type, body, offset) => keeper.post(type, id, body, offset),
      delivered: () => keeper.delivered(),
      finished: () => {
        isOpen = false;
      },
      process: deviceView(this.#libc, terminal, () => isOpen),
      isLeased: false,
    };
  }

  connected(): void {}
  disconnected(): void {}
  hear(): void {}
}
