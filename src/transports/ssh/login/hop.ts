import type { Duplex } from 'node:stream';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { plainUser } from '../config/address.ts';
import { type AskPassword, AuthChain, type Credentials } from './auth.ts';
import type { SshSurroundings } from '../sessions/connect.ts';
import {
  another,
  type AskTrust,
  type HostKeyVerdict,
  judgeHostKey,
  unknownKey,
  UntrustedKey,
} from './host-key-check.ts';
import type { Hop } from './jump.ts';
import { expandHome } from './keys.ts';
import { type HostKeyPolicy, KnownHost, knownHostName, readKnownHosts } from './known-hosts.ts';
import { recordHostKey } from './known-hosts-file.ts';
import { type LoggedIn, logIn } from './login.ts';

const defaultKeys = ['id_ed25519', 'id_ecdsa', 'id_rsa'];

/** What the caller gave, for the destination only: a jump host gets its own. */
interface DestinationSecrets {
  readonly keyPath?: string | undefined;
  readonly password?: string | undefined;
}

export interface Arrived extends LoggedIn {
  readonly username: string;
  readonly hostKey: HostKeyVerdict;
  readonly usedPassword: boolean;
  readonly warnings: readonly string[];
}

interface Arrival {
  readonly surroundings: SshSurroundings;
  readonly given: DestinationSecrets;
  readonly ask: AskPassword | undefined;
  readonly askTrust: AskTrust | undefined;
  readonly compress: boolean;
  /** The fingerprint of the only key that will do. */
  readonly hostKey?: string | undefined;
}

/** Logs in to one host over a stream that reaches it: its host key first, then its own credentials. */
export async function arrive(
  open: () => Promise<Duplex>,
  hop: Hop,
  arrival: Arrival,
  signal: AbortSignal,
): Promise<Arrived> {
  try {
    return await attempt(open, hop, arrival, signal);
  } catch (error) {
    if (!(error instanceof UntrustedKey)) throw error;
    const { name, fingerprint } = error.question;
    const isTrusted = (await arrival.askTrust?.(error.question, signal)) === true;
    if (!isTrusted) throw unknownKey(name, fingerprint);
    return await attempt(open, hop, arrival, signal, fingerprint);
  }
}

async function attempt(
  open: () => Promise<Duplex>,
  hop: Hop,
  arrival: Arrival,
  signal: AbortSignal,
  trusted?: string,
): Promise<Arrived> {
  const { surroundings, given, ask, compress } = arrival;
  const { settings } = hop;
  const known = new KnownHost(
    await readKnownHosts(knownHostsFiles(hop, surroundings)),
    knownHostName(settings.hostKeyAlias ?? hop.host),
    settings.hostKeyAlias === undefined ? hop.port : 22,
  );
  const policy: HostKeyPolicy = settings.strict ? 'strict' : surroundings.hostKeyPolicy;
  const credentials = credentialsFor(hop, given, ask, surroundings);
  const chain = new AuthChain(credentials, signal);
  await chain.prepare(signal);
  const warnings: string[] = [];
  let accepted: { readonly key: Buffer; readonly verdict: HostKeyVerdict } | undefined;
  const loggedIn = await logIn(
    await open(),
    {
      username: credentials.username,
      chain,
      knownTypes: known.types,
      compress,
      checkHostKey: (key) => {
        // A new exchange of keys asks again; what was accepted once is accepted.
        if (accepted?.key.equals(key)) return;
        const verdict = judgeHostKey(key, known, policy, trusted);
        if (arrival.hostKey !== undefined && verdict.fingerprint !== arrival.hostKey)
          throw another(known.name, verdict);
        accepted = { key: Buffer.from(key), verdict };
      },
      proved: async () => {
        if (accepted?.verdict.warning !== undefined) warnings.push(accepted.verdict.warning);
        if (accepted?.verdict.state !== 'new') return;
        const file = surroundings.knownHostsFile;
        await recordHostKey(file, known.name, accepted.key, signal).catch((error: unknown) => {
          const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
          warnings.push(`the key of ${known.name} could not be recorded in ${file} (${code})`);
        });
      },
    },
    signal,
  );
  const { verdict } = accepted as unknown as { readonly verdict: HostKeyVerdict };
  return { ...loggedIn, username: credentials.username, hostKey: verdict, usedPassword: chain.usedPassword, warnings };
}

function credentialsFor(
  hop: Hop,
  given: DestinationSecrets,
  ask: AskPassword | undefined,
  { home, env }: SshSurroundings,
): Credentials {
  const { host, port, user, settings } = hop;
  const usual = env['SSH_AUTH_SOCK'] || undefined;
  return {
    username: plainUser(user ?? userInfo().username),
    host,
    port,
    keyPath: given.keyPath === undefined ? undefined : expandHome(given.keyPath, home),
    password: given.password,
    ask,
    // A key that was given is the one to use.
    identityFiles: given.keyPath === undefined ? settings.identityFiles : [],
    identitiesOnly: settings.identitiesOnly,
    agentSocket: settings.identityAgent === undefined ? usual : (settings.identityAgent ?? undefined),
    // The config's keys take their place, as with ssh.
    defaultKeys: settings.identityFiles.length > 0 ? [] : defaultKeys.map((name) => join(home, '.ssh', name)),
  };
}

function knownHostsFiles({ settings }: Hop, { home, knownHostsFile, systemFolder = '/etc/ssh' }: SshSurroundings) {
  return [
    ...(settings.userKnownHosts ?? [join(home, '.ssh', 'known_hosts'), join(home, '.ssh', 'known_hosts2')]),
    ...(settings.globalKnownHosts ?? [join(systemFolder, 'ssh_known_hosts'), join(systemFolder, 'ssh_known_hosts2')]),
    knownHostsFile,
  ];
}
