import { type Deferred, deferred } from '../../../../lib/deferred.ts';
import { spawnError, keeperGone } from './spawn-errors.ts';
import type { KeeperChannel } from './keeper-channel.ts';
import type { Failed } from '../messages.ts';

interface Spawning {
  readonly body: Uint8Array;
  readonly answer: Deferred<KeeperChannel>;
}

/** Terminals that the keeper was asked for and has not answered yet. */
export class Spawns {
  readonly #all = new Map<string, Spawning>();

  /** Settles with the keeper's answer, over whichever connection it comes. */
  async wait(id: string, body: Uint8Array, post: () => void): Promise<KeeperChannel> {
    const answer = deferred<KeeperChannel>();
    this.#all.set(id, { body, answer });
    try {
      post();
      return await answer.promise;
    } finally {
      this.#all.delete(id);
    }
  }

  /** Asks again over a new connection for what the keeper does not have. */
  again(post: (id: string, body: Uint8Array) => void): void {
    for (const [id, { body }] of this.#all) post(id, body);
  }

  has(id: string): boolean {
    return this.#all.has(id);
  }

  opened(id: string, channel: KeeperChannel): void {
    this.#all.get(id)?.answer.resolve(channel);
  }

  failed(id: string, why: Partial<Failed>): void {
    this.#all.get(id)?.answer.reject(spawnError(why));
  }

  /** No answer will come. */
  lost(): void {
    for (const { answer } of this.#all.values()) answer.reject(keeperGone());
  }
}
