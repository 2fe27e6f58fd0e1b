import { FairleadError } from '../../contract/errors.ts';
import { describeEnd, gone } from '../terminal/ended.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** The error for a session that is gone, by the name the caller used. */
export type PastWords = (asked: string) => FairleadError;

interface Past {
  readonly id: string;
  readonly owner: string | undefined;
  readonly keys: readonly string[];
  readonly words: PastWords;
}

/** How many of them keep a word about their end. */
const most = 1000;

/** Sessions that were here, by every way to call one: its id, its number, its name. */
export class PastSessions {
  readonly #inOrder = new Map<string, Past>();
  /** A name may be given again: the newest one counts. */
  readonly #called = new Map<string, Past>();

  remember({ id, identity: { number, name, owner } }: Terminal, words: PastWords, alias?: string): void {
    const keys = [id, String(number), name, alias].filter((key) => key !== undefined).map((key) => key.toLowerCase());
    const past = { id, owner, keys, words };
    this.#inOrder.set(id, past);
    for (const key of keys) this.#called.set(key, past);
    const [oldest] = this.#inOrder.values();
    if (this.#inOrder.size <= most || oldest === undefined) return;
    this.#inOrder.delete(oldest.id);
    for (const key of oldest.keys) if (this.#called.get(key) === oldest) this.#called.delete(key);
  }

  /** Undefined if no such session is known, or it had another owner. */
  endOf(asked: string, principal: string): FairleadError | undefined {
    const past = this.#called.get(asked.toLowerCase());
    return past === undefined || (past.owner ?? principal) !== principal ? undefined : past.words(asked);
  }
}

/** It was closed on purpose. Only one book has words for that; the session RPC answers "not found". */
export const closed: PastWords = (asked) =>
  new FairleadError('terminal_not_found', gone().message, { data: { terminal: asked, end: '' } });

export const closedIdle = (seconds: number): PastWords => said(`was closed after ${seconds} s idle`);

/** A session that has ended was looked at for long enough. */
export const letGo = (terminal: Terminal): PastWords =>
  said(`${end(terminal)} more than 10 minutes ago and was let go.`);

/** It gave way to another one after its shell had exited. */
export const replaced = (terminal: Terminal): PastWords =>
  said(`${end(terminal)}, and another one has taken its place.`);

function said(what: string): PastWords {
  return (asked) =>
    new FairleadError('terminal_not_found', `Session '${asked}' ${what}`, { data: { terminal: asked, end: what } });
}

const end = ({ ended }: Terminal): string => (ended === undefined ? 'was closed' : describeEnd(ended));
