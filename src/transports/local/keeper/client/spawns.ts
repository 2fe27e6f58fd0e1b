import { type Deferred, deferred } from '../../../../lib/deferred.ts';
import { spawnError, keeperGone } from './spawn-errors.ts';
import type { KeeperChannel } from './keeper-channel.ts';
import type { Failed } from '../messages.ts';

interface Spawning {
  readonly body: Uint8Array;
  readonly answer: Deferred<KeeperChannel>;
}

/** Terminals the keeper was asked for and has not spoken of yet. */
export class Spawns {
  readonly #all = new Map<string, Spawning>();

  /** Settles with the keeper's answer, whichever connection it comes over. */
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

  /** There is a new connection: what the keeper does not have it never heard of. */
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

  /** There is nobody left to answer. */
  lost(): void {
    for (const { answer } of this.#all.values()) answer.reject(keeperGone());
  }
}
