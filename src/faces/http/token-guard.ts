import type { Socket } from 'node:net';
import type { Clock } from '../../lib/clock.ts';
import { systemClock } from '../../system/clock.ts';
import { FailedLogins } from '../door/failed-logins.ts';
import { Strangers } from '../door/strangers.ts';
import { checkHost, checkOrigin, checkToken, type GuardRules } from './guard.ts';
import type { BrowserLogins } from '../../engine/instances/browser-logins.ts';
import { cookieOf, hasCsrf } from './cookie.ts';
import { type Refusal, sendRefusal } from './reply.ts';
import type { Guard, HttpVisit, Route } from './route.ts';

export interface TokenGuardOptions extends GuardRules {
  readonly clock?: Clock | undefined;
  /** Absent: wrong tokens are counted for this port alone, and not reported. */
  readonly failed?: FailedLogins | undefined;
  /** Absent: no route takes a cookie. */
  readonly logins?: BrowserLogins | undefined;
}

const mostStrangers = 256;

/** Host, then Origin, then the token. Without the token even paths that exist and paths that do not look the same. */
export class TokenGuard implements Guard {
  readonly #rules: GuardRules;
  readonly #failed: FailedLogins;
  readonly #logins: BrowserLogins | undefined;
  readonly #strangers = new Strangers(mostStrangers);
  /** Connections on which the answer to a wrong token is delayed. */
  readonly #delayed = new WeakSet<Socket>();

  constructor(options: TokenGuardOptions) {
    const { clock = systemClock, failed = new FailedLogins(clock, () => {}), logins, ...rules } = options;
    this.#rules = rules;
    this.#logins = logins;
    this.#failed = failed;
  }

  connected(socket: Socket): void {
    this.#strangers.add(socket);
  }

  async admit(visit: HttpVisit, route: Route | undefined): Promise<HttpVisit | undefined> {
    const { headers, rawHeaders, socket } = visit.request;
    const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host').length;
    const refusal = checkHost(headers, this.#rules, hosts) ?? checkOrigin(headers, this.#rules);
    if (refusal !== undefined) return refuse(visit, refusal);
    if (route?.isPublic === true) return visit;
    // A client that sends more guesses without waiting for an answer is dropped: the server would have to keep all of them.
    if (this.#delayed.has(socket)) {
      socket.destroy();
      return undefined;
    }
    const known = this.#recognise(visit, route);
    if ('status' in known) {
      if (headers.authorization !== undefined) await this.#wrongToken(visit);
      return refuse(visit, known);
    }
    this.#strangers.recognise(socket);
    return known;
  }

  /** By the token; where no token is sent, by the cookie of a browser. */
  #recognise(visit: HttpVisit, route: Route | undefined): HttpVisit | Refusal {
    const { request } = visit;
    const isBrowser = route?.takesCookie === true && request.headers.authorization === undefined;
    const cookie = isBrowser ? cookieOf(request) : undefined;
    if (cookie === undefined || this.#logins === undefined) return checkToken(request.headers, this.#rules) ?? visit;
    const login = this.#logins.find(cookie);
    if (login === undefined) return loginOver;
    return route?.checksCsrfItself === true || hasCsrf(request, login) ? { ...visit, login } : noCsrf;
  }

  /** Counts a wrong token and delays its answer. */
  async #wrongToken({ request: { socket }, peer, gone }: HttpVisit): Promise<void> {
    this.#failed.add({ peer, face: 'http' });
    const { delayMs } = this.#failed;
    if (delayMs > 0) this.#delayed.add(socket);
    await this.#failed.pause(delayMs, gone);
  }
}

function refuse({ response }: HttpVisit, refusal: Refusal): undefined {
  sendRefusal(response, refusal);
}

const loginOver: Refusal = {
  status: 401,
  code: 'not_authenticated',
  message: 'This login has ended.',
  hint: 'Log in again: POST /api/login with the header Authorization: Bearer <token>.',
};

const noCsrf: Refusal = {
  status: 403,
  code: 'not_permitted',
  message: 'A request with a cookie needs the CSRF token of its login.',
  hint: 'Send the csrf_token of the login as X-CSRF-Token.',
};
