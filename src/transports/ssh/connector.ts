import { userInfo } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '../../engine/system-clock.ts';
import type { Clock } from '../../lib/clock.ts';
import { hostAndPort, parseAddress, plainUser } from './address.ts';
import { SshConfig } from './config.ts';
import type { ConfiguredHost, Connected, ConnectRequest, SshConnector, SshSurroundings } from './connect.ts';
import { Deadline } from './deadline.ts';
import { backOff, exhausted, judge, OutOfTime } from './failure.ts';
import { arrive, type Arrived } from './hop.ts';
import { forward, type Hop, route } from './jump.ts';
import type { SshLink } from './link.ts';
import { openSocket } from './socket.ts';
import { Ssh2Link } from './ssh2-link.ts';

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
        const failure = judge(error, place);
        if (failure.final) throw failure.error;
        if (failure.timeout) timeouts += 1;
        if (retries >= request.maxRetries) throw exhausted(failure.reason, place, retries + 1, timeouts, error);
        await pause(backOff(request.retryDelayMs, retries), undefined, { signal });
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
    using deadline = new Deadline(this.#clock, request.timeoutMs ?? settings.connectTimeoutMs ?? defaultTimeoutMs);
    const limited = AbortSignal.any([signal, deadline.signal]);
    const on: Arrived[] = [];
    try {
      for (const hop of hops) on.push(await this.#step(hops, on, hop, request, deadline, limited));
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
    { keyPath, password, askPassword, compress }: ConnectRequest,
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
      compress: compress && last,
    } satisfies Parameters<typeof arrive>[2];
    return arrive(open, hop, arrival, signal);
  }

  #connected(hops: readonly Hop[], on: readonly Arrived[], request: ConnectRequest): Omit<Connected, 'retries'> {
    const { host, port } = hops.at(-1) as Hop;
    const { client, stream, username, compression, hostKey } = on.at(-1) as Arrived;
    const link = new Ssh2Link(client, stream);
    const jumps = on.slice(0, -1);
    // Nobody else sees the links on the way: their ends and errors show as the end of this one.
    for (const jump of jumps) jump.client.on('error', () => {});
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
      ...(!password && { again: quietly(request, (quiet, signal) => this.connect(quiet, signal)) }),
    };
  }
}

/** Keeps nothing of the request that is a secret or asks somebody. */
function quietly(request: ConnectRequest, connect: SshConnector['connect']): (signal: AbortSignal) => Promise<SshLink> {
  const { password: _password, askPassword: _ask, ...rest } = request;
  const quiet: ConnectRequest = { ...rest, maxRetries: 0 };
  return async (signal) => (await connect(quiet, signal)).link;
}
