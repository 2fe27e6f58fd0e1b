import type { Channel, Ended, ProcessView } from '../../../../engine/terminal/channel.ts';
import { ByteQueue } from '../../../../lib/byte-queue.ts';
import { inputAfterEnd } from '../../../input-errors.ts';

/** The channel of a program that ended before this keeper took over. */
export class EndedChannel implements Channel {
  readonly output = new ByteQueue(1);
  readonly ended: Promise<Ended>;
  readonly process: ProcessView;

  constructor(pid: number, ended: Ended) {
    this.output.end();
    this.ended = Promise.resolve(ended);
    this.process = { pid, foreground: () => undefined, cwd: () => undefined, inputMode: () => undefined };
  }

  async write(): Promise<void> {
    throw inputAfterEnd();
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}
