import { userInfo } from 'node:os';
import { abortable } from '../../../system/abortable.ts';
import { systemClock } from '../../../system/clock.ts';
import type { Clock } from '../../../lib/clock.ts';
import { deferred } from '../../../lib/deferred.ts';
import { hostAndPort, parseAddress, plainUser } from '../config/address.ts';
import { SshConfig } from '../config/config.ts';
import type { ConfiguredHost, Connected, ConnectRequest, SshConnector, SshSurroundings } from './connect.ts';
import { Deadline } from '../login/deadline.ts';
import { backOff, exhausted, failureOf, OutOfTime } from '../failure.ts';
import { arrive, type Arrived } from '../login/hop.ts';
import { forward, type Hop, route } from '../login/jump.ts';
import type { SshLink } from '../link/link.ts';
import { Hiccup } from '../login/login.ts';
import { openSocket } from '../link/socket.ts';
import { Ssh2Link } from '../link/ssh2-link.ts';

const defaultTimeoutMs = 30_000;

export class Connector implements SshConnector {
  readonly #surroundings: SshSurroundings;
  readonly #clock: Clock;
  readonly #config: SshConfig;

  constructor(surroundings: SshSurroundings) {
    this.#surroundings = surroundings;
    this.#clock = surroundings.clock ?? systemClock;
    this.#config = new SshConfig(surroundings);
  }

  async connect(request: ConnectRequest, signal: AbortSignal): Promise<Connected> {
    const { hops, warnings } = await this.#route(request, signal);
    const { host, port } = hops.at(-1) as Hop;
    const place = hostAndPort(host, port);
    let timeouts = 0;
    for (let retries = 0; ; retries += 1) {
      try {
        const connected = await this.#attempt(hops, request, signal);
        return { ...connected, retries, warnings: [...warnings, ...connected.warnings] };
      } catch (error) {
        signal.throwIfAborted();
        const failure = failureOf(error, place);
        if (failure.final) throw failure.error;
        if (failure.timeout) timeouts += 1;
        if (retries >= request.maxRetries) throw exhausted(failure.reason, place, retries + 1, timeouts, error);
        await this.#pause(backOff(request.retryDelayMs, retries), signal);
      }
    }
  }

  async wayTo(request: Pick<ConnectRequest, 'address' | 'username'>, signal: AbortSignal): Promise<string> {
    const { hops } = await this.#route(request, signal);
    return JSON.stringify(hops.map(({ host, port, user }) => [host.toLowerCase(), port, user ?? userInfo().username]));
  }

  configuredHosts(): Promise<readonly ConfiguredHost[]> {
    return this.#config.hosts().catch(() => []);
  }

  #route({ address, username }: Pick<ConnectRequest, 'address' | 'username'>, signal: AbortSignal) {
    const user = username === undefined ? undefined : plainUser(username);
    return route({ ...parseAddress(address), user }, this.#config, signal);
  }

  async #attempt(
    hops: readonly Hop[],
    request: ConnectRequest,
    signal: AbortSignal,
  ): Promise<Omit<Connected, 'retries'>> {
    const { settings } = hops.at(-1) as Hop;
    const { timeoutMs = settings.connectTimeoutMs, usualTimeoutMs = defaultTimeoutMs } = request;
    using deadline = new Deadline(this.#clock, timeoutMs ?? usualTimeoutMs);
    const broken = new AbortController();
    const limited = AbortSignal.any([signal, deadline.signal, broken.signal]);
    const on: Arrived[] = [];
    try {
      for (const hop of hops) {
        const arrived = await this.#step(hops, on, hop, request, deadline, limited);
        on.push(arrived);
        // A stream through a host that is gone says nothing of it: without this the next login would wait for its limit.
        if (hop !== hops.at(-1)) arrived.client.once('close', () => broken.abort(new Hiccup(lostJump(hop))));
      }
    } catch (error) {
      for (const { client } of on) client.destroy();
      if (deadline.passed && !signal.aborted) throw new OutOfTime();
      throw error;
    }
    return this.#connected(hops, on, request);
  }

  #step(
    hops: readonly Hop[],
    on: readonly Arrived[],
    hop: Hop,
    { keyPath, password, askPassword, askTrust, compress, hostKey }: ConnectRequest,
    deadline: Deadline,
    signal: AbortSignal,
  ): Promise<Arrived> {
    const last = hop === hops.at(-1);
    const behind = on.at(-1);
    const open =
      behind === undefined
        ? () => openSocket(hop.host, hop.port, signal)
        : () => forward(behind.client, hops[on.length - 1] as Hop, hop, signal);
    const arrival = {
      surroundings: this.#surroundings,
      given: last ? { keyPath, password } : {},
      ask: askPassword && ((question, until) => deadline.pausedFor(() => askPassword(question, until))),
      askTrust: askTrust && ((question, until) => deadline.pausedFor(() => askTrust(question, until))),
      compress: compress && last,
      hostKey: last ? hostKey : undefined,
    } satisfies Parameters<typeof arrive>[2];
    return arrive(open, hop, arrival, signal);
  }

  #connected(hops: readonly Hop[], on: readonly Arrived[], request: ConnectRequest): Omit<Connected, 'retries'> {
    const { host, port } = hops.at(-1) as Hop;
    const { client, stream, username, compression, hostKey } = on.at(-1) as Arrived;
    const link = new Ssh2Link(client, stream);
    const jumps = on.slice(0, -1);
    // Intermediate links are internal: their ends show as the end of this one, and login.ts handles their errors.
    link.ended.then(() => jumps.toReversed().forEach((jump) => jump.client.end())).catch(() => {});
    const password = on.some(({ usedPassword }) => usedPassword);
    return {
      link,
      host,
      port,
      username,
      compression,
      hostKey: { fingerprint: hostKey.fingerprint, state: hostKey.state },
      warnings: on.flatMap(({ warnings }) => warnings),
      ...(!password && {
        again: quietly(request, hostKey.fingerprint, (quiet, signal) => this.connect(quiet, signal)),
      }),
    };
  }

  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    const over = deferred<void>();
    using _timer = this.#clock.after(ms, () => over.resolve());
    await abortable(over.promise, signal);
  }
}

const lostJump = ({ host, port }: Hop): string => `the jump host ${hostAndPort(host, port)} closed the connection`;

/** Keeps nothing of the request that is secret or asks the person. A name may lead to several machines: only the first will do. */
function quietly(
  request: ConnectRequest,
  hostKey: string,
  connect: SshConnector['connect'],
): (signal: AbortSignal) => Promise<SshLink> {
  const { password: _password, askPassword: _ask, askTrust: _trust, ...rest } = request;
  const quiet: ConnectRequest = { ...rest, maxRetries: 0, hostKey };
  return async (signal) => (await connect(quiet, signal)).link;
}
