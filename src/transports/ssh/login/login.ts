import type { Duplex } from 'node:stream';
import ssh2, { type AnyAuthMethod, type CipherAlgorithm, type Client, type ServerHostKeyAlgorithm } from 'ssh2';
import { remoteError } from '../../../contract/remote-errors.ts';
import type { AuthChain } from './auth.ts';
import { said } from '../said.ts';
import { insideClient } from '../link/ssh2-internals.ts';
import { dropWhenUnread } from '../link/unsent.ts';

/** The fastest first: with AES instructions nothing else comes near it. */
const ciphers: CipherAlgorithm[] = [
  'aes128-gcm@openssh.com',
  'aes256-gcm@openssh.com',
  'aes128-ctr',
  'aes192-ctr',
  'aes256-ctr',
  'chacha20-poly1305@openssh.com',
];

/** Without SHA-1, as OpenSSH since 8.8. */
const hostKeyAlgorithms: readonly ServerHostKeyAlgorithm[] = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'rsa-sha2-512',
  'rsa-sha2-256',
];

/** Something that may be gone the next time: a handshake cut off, a connection reset. */
export class Hiccup extends Error {}

interface SshLogin {
  readonly username: string;
  readonly chain: AuthChain;
  /** Key types to ask for first. */
  readonly knownTypes: readonly string[];
  readonly compress: boolean;
  /** Throws when the key is not acceptable. Called before anything is known to be signed with it. */
  readonly checkHostKey: (key: Buffer) => void;
  /** The server has proved that it holds the key; no credential has been sent yet. */
  readonly proved: () => Promise<void>;
}

export interface LoggedIn {
  readonly client: Client;
  readonly stream: Duplex;
  readonly compression: boolean;
}

/** Handshake, host key, authentication, over a connected stream, which it destroys when it fails. */
export function logIn(stream: Duplex, login: SshLogin, signal: AbortSignal): Promise<LoggedIn> {
  return new Promise((resolve, reject) => {
    const client = new ssh2.Client();
    let compression = false;
    let handshaken = false;
    let settled = false;
    const settle = (): boolean => {
      if (settled) return false;
      settled = true;
      signal.removeEventListener('abort', abort);
      return true;
    };
    const fail = (error: unknown): void => {
      if (!settle()) return;
      stream.destroy();
      login.chain.stop();
      reject(error as Error);
    };
    const abort = (): void => {
      // The way there broke while the person was looking at a question: another try would only ask again.
      fail(signal.reason instanceof Hiccup && login.chain.asking ? login.chain.failure() : signal.reason);
    };

    client.on('handshake', (negotiated) => {
      handshaken = true;
      compression = negotiated.cs.compress !== 'none';
    });
    client.on('error', (error: Error & { readonly level?: string; readonly code?: unknown }) => {
      // Of these ssh2 itself goes on with the next credential; when there is none left, nextStep has failed already.
      if (error.level === 'agent' || error.level === 'client-authentication') return;
      fail(meaning(error, handshaken && login.chain.begun, login.chain));
    });
    client.on('close', () => {
      if (handshaken && login.chain.begun) fail(login.chain.failure());
      else fail(new Hiccup('the server closed the connection during the handshake'));
    });
    client.once('ready', () => {
      if (!settle()) return;
      // Until its next owner listens: an error without a listener would end the process.
      client
        .removeAllListeners('error')
        .removeAllListeners('close')
        .on('error', () => {});
      resolve({ client, stream, compression });
    });

    let methods: readonly string[] | undefined;
    let proving: Promise<void> | undefined;
    const nextStep = async (): Promise<AnyAuthMethod | false> => {
      proving ??= login.proved();
      await proving;
      const step = await login.chain.next(methods);
      if (step === false) throw login.chain.failure();
      return step;
    };
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) return abort();
    client.connect({
      sock: stream as never,
      username: login.username,
      readyTimeout: 0,
      keepaliveInterval: 0,
      algorithms: {
        cipher: ciphers,
        serverHostKey: preferring(login.knownTypes),
        compress: login.compress ? ['zlib@openssh.com', 'zlib', 'none'] : ['none'],
      },
      hostVerifier: (key: Buffer) => {
        try {
          login.checkHostKey(key);
          return true;
        } catch (error) {
          fail(error);
          return false;
        }
      },
      authHandler: (_left, _partial, take) => {
        nextStep().then((step) => !settled && take(step as AnyAuthMethod), fail);
      },
    });
    dropWhenUnread(client, stream);
    // ssh2 does not pass on the answer to a key of the agent.
    const handlers = insideClient(client)._protocol._handlers;
    const refused = handlers['USERAUTH_FAILURE'] as ((...args: unknown[]) => void) | undefined;
    handlers['USERAUTH_FAILURE'] = ((protocol: unknown, left: readonly string[], partial: boolean) => {
      methods = left;
      refused?.(protocol, left, partial);
    }) as never;
  });
}

function preferring(types: readonly string[]): ServerHostKeyAlgorithm[] {
  const recorded = (algorithm: string): boolean =>
    types.includes(algorithm) || (algorithm.startsWith('rsa-sha2-') && types.includes('ssh-rsa'));
  return [
    ...hostKeyAlgorithms.filter((algorithm) => recorded(algorithm)),
    ...hostKeyAlgorithms.filter((algorithm) => !recorded(algorithm)),
  ];
}

function meaning(
  error: Error & { readonly level?: string; readonly code?: unknown },
  begun: boolean,
  chain: AuthChain,
) {
  // A number is the server's own goodbye: after credentials it means "too many failures", or "too slow".
  if (begun && (typeof error.code === 'number' || chain.asking)) return chain.failure();
  if (error.level === 'handshake' && /no matching|signature|mismatch/i.test(error.message)) {
    return remoteError('CONNECTION_FAILED', `The handshake failed: ${said(error.message)}.`);
  }
  return new Hiccup(said(error.message));
}
