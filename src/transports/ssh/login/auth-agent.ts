import ssh2, { type IdentityCallback, type ParsedKey, type SignCallback, type SigningRequestOptions } from 'ssh2';

/**
 * An agent with one key. Given a whole agent, ssh2 would offer all its keys in a row, past the limit of most servers,
 * and go on offering them after a server that wants two factors has accepted one.
 */
class OneKeyAgent extends ssh2.BaseAgent<ParsedKey> {
  readonly #agent: InstanceType<typeof ssh2.OpenSSHAgent>;
  readonly #key: ParsedKey;

  constructor(agent: InstanceType<typeof ssh2.OpenSSHAgent>, key: ParsedKey) {
    super();
    this.#agent = agent;
    this.#key = key;
  }

  override getIdentities(done: IdentityCallback<ParsedKey>): void {
    done(undefined, [this.#key]);
  }

  override sign(
    key: ParsedKey,
    data: Buffer,
    options: SigningRequestOptions | SignCallback,
    done?: SignCallback,
  ): void {
    if (typeof options === 'function') this.#agent.sign(key, data, options);
    else this.#agent.sign(key, data, options, done);
  }
}

export interface AgentKey {
  readonly key: ParsedKey;
  readonly agent: InstanceType<typeof ssh2.BaseAgent<ParsedKey>>;
}

/** The keys of the agent at this socket; none if it does not answer. */
export function agentKeys(socket: string, signal: AbortSignal): Promise<AgentKey[]> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const abort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    const agent = new ssh2.OpenSSHAgent(socket);
    agent.getIdentities((error, found = []) => {
      signal.removeEventListener('abort', abort);
      const keys = error ? [] : (found as ParsedKey[]);
      resolve(keys.map((key) => ({ key, agent: new OneKeyAgent(agent, key) })));
    });
  });
}
