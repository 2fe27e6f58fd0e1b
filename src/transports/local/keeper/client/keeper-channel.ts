import type { ProcessView, Size } from '../../../../engine/terminal/channel.ts';
import { ResumableChannel, type ResumableInit } from '../../../resumable/resumable-channel.ts';
import { HURRIED_MS, neverEnds } from '../../pty/ending.ts';
import { recycle } from '../../pty/slabs.ts';
import { checkSize } from '../../target.ts';
import type { TerminalLink } from '../lease/terminal-access.ts';

interface KeeperChannelInit extends Omit<ResumableInit, 'recycle' | 'disposal'> {
  readonly link: TerminalLink;
}

/** A program whose terminal the keeper holds. */
export class KeeperChannel extends ResumableChannel {
  readonly process: ProcessView;
  readonly #link: TerminalLink;

  constructor(init: KeeperChannelInit) {
    const { process } = init.link;
    super({ ...init, recycle, disposal: { graceMs: HURRIED_MS, unconfirmed: neverEnds(process.pid) } });
    this.process = process;
    this.#link = init.link;
  }

  /** This process reads and types, without the keeper. */
  get isLeased(): boolean {
    return this.#link.isLeased;
  }

  override async resize(size: Size): Promise<void> {
    checkSize(size);
    await super.resize(size);
  }
}
