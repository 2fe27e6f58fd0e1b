import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { FairleadError } from '../../contract/errors.ts';
import { remoteError } from '../../contract/remote-errors.ts';
import { systemClock } from '../../engine/system-clock.ts';
import type { Clock } from '../../lib/clock.ts';
import { hostAndPort, parseAddress, plainUser } from './address.ts';
import { AuthChain, type Credentials } from './auth.ts';
import type { ConfiguredHost, Connected, ConnectRequest, SshConnector, SshSurroundings } from './connect.ts';
import { Deadline } from './deadline.ts';
import { type HostKeyVerdict, judgeHostKey } from './host-key-check.ts';
import { expandHome } from './keys.ts';
import { KnownHost, knownHostName, readKnownHosts } from './known-hosts.ts';
import { recordHostKey } from './known-hosts-file.ts';
import { Hiccup, logIn } from './login.ts';
import { openSocket } from './socket.ts';
import { said } from './said.ts';
import { Ssh2Link } from './ssh2-link.ts';

const defaultTimeoutMs = 30_000;
const maxDelayMs = 10_000;
const defaultKeys = ['id_ed25519', 'id_ecdsa', 'id_rsa'];

export class Connector implements SshConnector {
  readonly #surroundings: SshSurroundings;
  readonly #clock: Clock;

  constructor(surroundings: SshSurroundings) {
    this.#surroundings = surroundings;
    this.#clock = surroundings.clock ?? systemClock;
  }

  async connect(request: ConnectRequest, signal: AbortSignal): Promise<Connected> {
    const { host, port = 22 } = parseAddress(request.address);
    const username = plainUser(request.username ?? userInfo().username);
    let timeouts = 0;
    for (let retries = 0; ; retries += 1) {
      try {
        return { ...(await this.#attempt({ host, port, username }, request, signal)), retries };
      } catch (error) {
        signal.throwIfAborted();
        const failure = describe(error, hostAndPort(host, port));
        if (failure.final) throw failure.error;
        if (failure.timeout) timeouts += 1;
        if (retries >= request.maxRetries) throw exhausted(failure, hostAndPort(host, port), retries + 1, timeouts);
        await pause(delay(request.retryDelayMs, retries), undefined, { signal });
      }
    }
  }

  configuredHosts(): Promise<readonly ConfiguredHost[]> {
    return Promise.resolve([]);
  }

  async #attempt(
    { host, port, username }: { host: string; port: number; username: string },
    request: ConnectRequest,
    signal: AbortSignal,
  ): Promise<Omit<Connected, 'retries'>> {
    using deadline = new Deadline(this.#clock, request.timeoutMs ?? defaultTimeoutMs);
    const limited = AbortSignal.any([signal, deadline.signal]);
    const { home, env, knownHostsFile, hostKeyPolicy } = this.#surroundings;
    const { askPassword } = request;
    try {
      const known = new KnownHost(await readKnownHosts(this.#knownHostsFiles()), knownHostName(host), port);
      const credentials: Credentials = {
        username,
        host,
        port,
        keyPath: request.keyPath === undefined ? undefined : expandHome(request.keyPath, home),
        password: request.password,
        ask: askPassword && ((question) => deadline.pausedFor(() => askPassword(question, limited))),
        identityFiles: [],
        identitiesOnly: false,
        agentSocket: env['SSH_AUTH_SOCK'] || undefined,
        defaultKeys: defaultKeys.map((name) => join(home, '.ssh', name)),
      };
      const chain = new AuthChain(credentials, limited);
      const warnings: string[] = [];
      let verdict: HostKeyVerdict | undefined;
      let offered: Buffer | undefined;
      const stream = await openSocket(host, port, limited);
      const { client, compression } = await logIn(
        stream,
        {
          username,
          chain,
          knownTypes: known.types,
          compress: request.compress,
          checkHostKey: (key) => {
            // Rekeying asks again; what was accepted once is accepted.
            if (offered?.equals(key)) return;
            verdict = judgeHostKey(key, known, hostKeyPolicy);
            offered = Buffer.from(key);
          },
          proved: async () => {
            if (verdict?.warning !== undefined) warnings.push(verdict.warning);
            if (verdict?.state !== 'new' || offered === undefined) return;
            await recordHostKey(knownHostsFile, known.name, offered, limited).catch((error: unknown) => {
              const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
              warnings.push(`the key of ${known.name} could not be recorded in ${knownHostsFile} (${code})`);
            });
          },
        },
        limited,
      );
      const link = new Ssh2Link(client);
      const { fingerprint, state } = verdict as unknown as HostKeyVerdict;
      return {
        link,
        host,
        port,
        username,
        compression,
        hostKey: { fingerprint, state },
        warnings,
        ...(!chain.usedPassword && { again: (later) => this.#again(request, later) }),
      };
    } catch (error) {
      if (deadline.passed && !signal.aborted) throw new OutOfTime();
      throw error;
    }
  }

  async #again(request: ConnectRequest, signal: AbortSignal): Promise<Ssh2Link> {
    const { password: _password, askPassword: _ask, ...quiet } = request;
    const { link } = await this.connect({ ...quiet, maxRetries: 0 }, signal);
    return link as Ssh2Link;
  }

  #knownHostsFiles(): string[] {
    const { home, knownHostsFile, systemFolder = '/etc/ssh' } = this.#surroundings;
    return [join(home, '.ssh', 'known_hosts'), join(systemFolder, 'ssh_known_hosts'), knownHostsFile];
  }
}

class OutOfTime extends Error {}

interface Failure {
  readonly error: unknown;
  readonly final: boolean;
  readonly timeout: boolean;
  readonly reason: string;
}

/** DNS answers that mean "there is no such host", as against "nobody could say". */
const unknownHost: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'EAI_NONAME', 'EAI_NODATA']);

function describe(error: unknown, place: string): Failure {
  const code = (error as NodeJS.ErrnoException).code;
  if (error instanceof FairleadError) return { error, final: true, timeout: false, reason: error.message };
  if (error instanceof OutOfTime) return { error, final: false, timeout: true, reason: 'no answer in time' };
  if (error instanceof Hiccup) return { error, final: false, timeout: false, reason: error.message };
  if (typeof code !== 'string') return { error, final: true, timeout: false, reason: '' };
  if (unknownHost.has(code)) {
    const unknown = remoteError('CONNECTION_FAILED', `Cannot connect to ${place}: no host has this name.`, {
      cause: error,
    });
    return { error: unknown, final: true, timeout: false, reason: '' };
  }
  return { error, final: false, timeout: code === 'ETIMEDOUT', reason: words[code] ?? said((error as Error).message) };
}

const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to the network',
  ETIMEDOUT: 'no answer in time',
  EAI_AGAIN: 'its name could not be looked up just now',
};

function exhausted(failure: Failure, place: string, attempts: number, timeouts: number): FairleadError {
  const code = timeouts === attempts ? 'CONNECTION_TIMEOUT' : 'CONNECTION_FAILED';
  const tries = attempts === 1 ? 'one attempt' : `${attempts} attempts`;
  return remoteError(code, `Cannot connect to ${place}: ${failure.reason} (${tries}).`, {
    data: { attempts },
    cause: failure.error,
  });
}

/** Doubling, at most ten seconds, a fifth either way so that many clients do not come back at once. */
const delay = (firstMs: number, retries: number): number =>
  Math.min(maxDelayMs, firstMs * 2 ** retries) * (0.8 + Math.random() * 0.4);
