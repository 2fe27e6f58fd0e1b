import type { Socket } from 'node:net';
import type { Clock } from '../../lib/clock.ts';
import { systemClock } from '../../system/clock.ts';
import { FailedLogins } from '../door/failed-logins.ts';
import { Strangers } from '../door/strangers.ts';
import { checkHost, checkOrigin, checkToken, type GuardRules } from './guard.ts';
import { sendRefusal } from './reply.ts';
import type { Guard, HttpVisit, Route } from './route.ts';

export interface TokenGuardOptions extends GuardRules {
  readonly clock?: Clock | undefined;
  /** Absent: wrong tokens are counted for this port alone, and not reported. */
  readonly failed?: FailedLogins | undefined;
}

const mostStrangers = 256;

/** Host, then Origin, then the token. Without the token even paths that exist and paths that do not look the same. */
export class TokenGuard implements Guard {
  readonly #rules: GuardRules;
  readonly #failed: FailedLogins;
  readonly #strangers = new Strangers(mostStrangers);
  /** Connections on which the answer to a wrong token is delayed. */
  readonly #delayed = new WeakSet<Socket>();

  constructor({ clock = systemClock, failed = new FailedLogins(clock, () => {}), ...rules }: TokenGuardOptions) {
    this.#rules = rules;
    this.#failed = failed;
  }

  connected(socket: Socket): void {
    this.#strangers.add(socket);
  }

  async admit(visit: HttpVisit, route: Route | undefined): Promise<boolean> {
    const { request, response } = visit;
    const { headers, rawHeaders, socket } = request;
    const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host').length;
    const refusal = checkHost(headers, this.#rules, hosts) ?? checkOrigin(headers, this.#rules);
    if (refusal !== undefined) return refuse(visit, refusal);
    if (route?.isPublic === true) return true;
    // A client that sends more guesses without waiting for an answer is dropped: the server would have to keep all of them.
    if (this.#delayed.has(socket)) {
      socket.destroy();
      return false;
    }
    const unknown = checkToken(headers, this.#rules);
    if (unknown !== undefined) {
      if (headers.authorization !== undefined) await this.#wrongToken(visit);
      return refuse(visit, unknown);
    }
    this.#strangers.recognise(socket);
    return !response.destroyed;
  }

  /** Counts a wrong token and delays its answer. */
  async #wrongToken({ request: { socket }, peer, gone }: HttpVisit): Promise<void> {
    this.#failed.add({ peer, face: 'http' });
    const { delayMs } = this.#failed;
    if (delayMs > 0) this.#delayed.add(socket);
    await this.#failed.pause(delayMs, gone);
  }
}

function refuse({ response }: HttpVisit, refusal: Parameters<typeof sendRefusal>[1]): false {
  sendRefusal(response, refusal);
  return false;
}
