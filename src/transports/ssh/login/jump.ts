import type { Duplex } from 'node:stream';
import type { Client } from 'ssh2';
import { remoteError } from '../../../contract/remote-errors.ts';
import { hostAndPort, parseAddress, plainHost, plainUser } from '../config/address.ts';
import type { SshConfig } from '../config/config.ts';
import type { HostSettings } from '../config/settings.ts';
import { Hiccup } from './login.ts';
import { said } from '../said.ts';

/** More than any real setup has; a circular config has no end. */
const maxHops = 8;

/** A host on the way, and what the SSH config says about it. */
export interface Hop {
  readonly host: string;
  readonly port: number;
  /** Undefined: the local user's name. */
  readonly user: string | undefined;
  readonly settings: HostSettings;
}

interface Destination {
  readonly host: string;
  readonly port?: number | undefined;
  readonly user?: string | undefined;
}

/** The hosts to go through, the destination last. What the caller gave wins over the config. */
export async function route(
  destination: Destination,
  config: SshConfig,
  signal: AbortSignal,
): Promise<{ readonly hops: readonly Hop[]; readonly warnings: readonly string[] }> {
  const hops: Hop[] = [];
  const warnings: string[] = [];
  /** Puts a host, and what leads to it, before those that are there. */
  const prepend = async (to: Destination, via: string | undefined): Promise<void> => {
    const { settings, warnings: more } = await config.resolve(to, signal);
    warnings.push(...more);
    if (settings.proxyCommand !== undefined && via === undefined) throw noProxyCommand(to.host);
    hops.unshift({ host: dialled(settings.hostName), port: settings.port ?? 22, user: settings.user, settings });
    if (hops.length > maxHops) throw tooMany(destination.host);
    const jumps = (via ?? settings.proxyJump ?? '').split(',').filter((jump) => jump !== '');
    const nearest = jumps.pop();
    // Only the first host of a list is reached as its own config says.
    if (nearest !== undefined) await prepend(parseJump(nearest), jumps.length > 0 ? jumps.join(',') : undefined);
  };
  await prepend(destination, undefined);
  return { hops, warnings };
}

/** `[user@]host[:port]` or `ssh://…`, as in ProxyJump. */
function parseJump(text: string): Destination {
  const plain = text.replace(/^ssh:\/\//, '');
  const at = plain.lastIndexOf('@');
  const user = at < 0 ? undefined : plainUser(plain.slice(0, at));
  return { ...parseAddress(plain.slice(at + 1)), user };
}

const dialled = (host: string): string => (host.includes(':') ? host : plainHost(host));

/** A connection from a jump host to the next one. */
export function forward(client: Client, from: Hop, to: Hop, signal: AbortSignal): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const abort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    client.forwardOut('127.0.0.1', 0, to.host, to.port, (error: (Error & { reason?: unknown }) | undefined, stream) => {
      signal.removeEventListener('abort', abort);
      if (error === undefined) {
        if (signal.aborted) stream.destroy();
        else resolve(stream);
        return;
      }
      const prohibited = error.reason === 1;
      const why = prohibited ? 'it forwards no connections' : said(error.message.replace(/^\(SSH\) [^:]*: /, ''));
      const text = `the jump host ${hostAndPort(from.host, from.port)} cannot reach ${hostAndPort(to.host, to.port)}: ${why}`;
      // What is prohibited stays so; anything else may be gone the next time.
      reject(prohibited ? remoteError('CONNECTION_FAILED', `Cannot connect: ${text}.`) : new Hiccup(text));
    });
  });
}

const noProxyCommand = (host: string) =>
  remoteError(
    'CONNECTION_FAILED',
    `The SSH config reaches ${host} through a ProxyCommand, which is not supported here.`,
    {
      context: 'use ProxyJump in the SSH config, or an address that can be reached directly',
    },
  );

const tooMany = (host: string) =>
  remoteError('CONNECTION_FAILED', `The SSH config leads to ${host} through more than ${maxHops - 1} jump hosts.`);
