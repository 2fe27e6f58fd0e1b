import type { Clock } from '../../../lib/clock.ts';
import type { AskPassword } from '../login/auth.ts';
import type { AskTrust } from '../login/host-key-check.ts';
import type { HostKeyPolicy } from '../login/known-hosts.ts';
import type { SshLink } from '../link/link.ts';

export interface ConnectRequest {
  /** A host, or a name in the SSH config: `host[:port]`, `[v6]:port`. */
  readonly address: string;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly keyPath?: string | undefined;
  /** For each attempt: TCP, handshake and login, without the time a person takes. */
  readonly timeoutMs?: number | undefined;
  /** The same where the caller named none and the SSH config names none (ConnectTimeout); 30 s. */
  readonly usualTimeoutMs?: number | undefined;
  readonly maxRetries: number;
  readonly retryDelayMs: number;
  readonly compress: boolean;
  /** Only a machine with this key will do: its fingerprint, whatever the policy says of others. */
  readonly hostKey?: string | undefined;
  /**
   * Asked only when the server wants a password (or one hidden keyboard-interactive answer) and none was given;
   * undefined: no answer.
   */
  readonly askPassword?: AskPassword | undefined;
  /** Asked about an unknown host key where the policy is `ask`; absent: the key is refused. */
  readonly askTrust?: AskTrust | undefined;
}

export interface Connected {
  readonly link: SshLink;
  readonly host: string;
  readonly port: number;
  readonly username: string;
  /** Extra attempts that were needed. */
  readonly retries: number;
  readonly compression: boolean;
  readonly hostKey: { readonly fingerprint: string; readonly state: HostKeyState };
  readonly warnings: readonly string[];
  /**
   * Another link to the same place with the same key or agent, without asking the person; absent when the login needed a
   * password.
   */
  readonly again?: ((signal: AbortSignal) => Promise<SshLink>) | undefined;
}

export type HostKeyState = 'known' | 'new' | 'unchecked' | 'changed';

/** A concrete `Host` of the SSH config. */
export interface ConfiguredHost {
  readonly alias: string;
  readonly hostName?: string | undefined;
  readonly user?: string | undefined;
  readonly port?: number | undefined;
}

export interface SshSurroundings {
  /** Whose `~/.ssh` is read. */
  readonly home: string;
  /** SSH_AUTH_SOCK, and PATH to find `ssh`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Our own known_hosts, the only one written to. */
  readonly knownHostsFile: string;
  readonly hostKeyPolicy: HostKeyPolicy;
  /** Where `/etc/ssh/ssh_config` and `/etc/ssh/ssh_known_hosts` are. */
  readonly systemFolder?: string | undefined;
  readonly clock?: Clock | undefined;
}

export interface SshConnector {
  /** Rejects with AUTH_*, CONNECTION_*, HOST_KEY_* or INVALID_ARGUMENT, or with the signal's reason. */
  connect(request: ConnectRequest, signal: AbortSignal): Promise<Connected>;
  /**
   * Where a request leads, as a key: equal for two requests that reach the same host, by the same jumps, as the same
   * user. Two names with one address behind different jumps are different hosts.
   */
  wayTo(request: Pick<ConnectRequest, 'address' | 'username'>, signal: AbortSignal): Promise<string>;
  /** What `targets` lists. Never rejects: a config that cannot be read has no hosts. */
  configuredHosts(): Promise<readonly ConfiguredHost[]>;
}

/** The SSH library is loaded for the first connection: most servers never need it. */
export function sshConnector(surroundings: SshSurroundings): SshConnector {
  const loaded = async (): Promise<SshConnector> => {
    const { Connector } = await import('./connector.ts');
    return new Connector(surroundings);
  };
  let connector: Promise<SshConnector> | undefined;
  const get = (): Promise<SshConnector> => {
    connector ??= loaded();
    return connector;
  };
  return {
    connect: async (request, signal) => (await get()).connect(request, signal),
    wayTo: async (request, signal) => (await get()).wayTo(request, signal),
    configuredHosts: async () => (await get()).configuredHosts(),
  };
}
