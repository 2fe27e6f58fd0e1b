import type { Caller } from '../call/call.ts';
import type { Clock } from '../../lib/clock.ts';
import { agentName } from './identity.ts';
import type { ConversationState, PauseMark } from './shapes.ts';

/** A pause or resumption with its place in the order of all of them: clocks may jump, numbers do not. */
export interface OrderedMark extends PauseMark {
  readonly order: number;
}

/** One client of this instance: what it is called, what it did, whether it may go on. */
export class AgentConversation {
  readonly id: string;
  readonly principal: string;
  readonly since: number;
  readonly counts = { calls: 0, denied: 0, held: 0, failed: 0 };
  bytesRead = 0;
  last: { readonly at: number; readonly op: string; readonly terminal?: string } | undefined;
  /** Its newest call, for its name, address and door. */
  caller: Caller;
  /** A pause of its own. */
  pause: OrderedMark | undefined;
  /** When it was last resumed, in the order of pauses. */
  resumed = 0;
  revoked: PauseMark | undefined;
  /** Calls under way. */
  active = 0;
  readonly #connections = new Set<AbortSignal>();
  #sessionIsOpen: boolean | undefined;
  /** It has called this process. */
  #wasMet = false;

  constructor(id: string, caller: Caller, clock: Pick<Clock, 'now'>) {
    this.id = id;
    this.principal = caller.principal;
    this.caller = caller;
    this.since = clock.now();
  }

  get agent(): string {
    return agentName(this.caller.name);
  }

  /** Undefined: its door cannot tell. */
  get connected(): boolean | undefined {
    const { client, connection, origin } = this.caller;
    if (!this.#wasMet) return false;
    if (connection) return this.#connections.size > 0;
    if (client) return client.leaves ? this.#sessionIsOpen : undefined;
    // Without a client of its own it is alone with its server, which ends with it.
    return origin === 'mcp' ? true : undefined;
  }

  get state(): ConversationState {
    return this.revoked ? 'revoked' : 'approved';
  }

  /** A call of it came in. */
  meet(caller: Caller, changed: () => void): void {
    this.caller = caller;
    this.#wasMet = true;
    if (caller.client?.leaves === true) this.#sessionIsOpen = true;
    const { connection } = caller;
    if (!connection || connection.aborted || this.#connections.has(connection)) return;
    this.#connections.add(connection);
    const gone = (): void => {
      this.#connections.delete(connection);
      changed();
    };
    connection.addEventListener('abort', gone, { once: true });
  }

  /** Its session has ended. */
  leave(): void {
    this.#sessionIsOpen = false;
  }
}
