import { z } from 'zod';
import { FairleadError } from '../../contract/errors.ts';
import { readArguments } from './api/arguments.ts';
import { browserName } from '../../engine/instances/browser-name.ts';
import { type BrowserLogins, loginMs } from '../../engine/instances/browser-logins.ts';
import { type CodeTries, hostOf, codeWaitMs } from '../door/code-tries.ts';
import type { FailedLogins } from '../door/failed-logins.ts';
import { cookieOf, setCookie } from './cookie.ts';
import { refusalOf, sendJson, sendRefusal, wrongMethod } from './reply.ts';
import type { Guard, HttpVisit, Route } from './route.ts';

interface LoginOptions {
  readonly logins: BrowserLogins;
  /** Whether the code of a link is good; it is not again. */
  readonly redeem: (code: string) => boolean;
  readonly failed: FailedLogins;
  readonly tries: CodeTries;
  readonly guard: Guard;
  /** Takes logins with the token. */
  readonly api: Route;
}

/** A code has some 32 characters; a stranger may send no more than this. */
const mostBytes = 4096;
const CodeBody = z.strictObject({ code: z.string().min(1).max(200) });

/** `POST /api/login`: with the code of a link, or as every other call with the token. */
export class LoginRoute implements Route {
  readonly path = '/api/login';
  readonly isPublic = true;
  readonly #options: LoginOptions;

  constructor(options: LoginOptions) {
    this.#options = options;
  }

  async handle(visit: HttpVisit): Promise<void> {
    const { request, response } = visit;
    const { guard, api } = this.#options;
    if (request.method !== 'POST') return sendRefusal(response, wrongMethod('POST'));
    const { authorization, 'content-length': length = '0', 'transfer-encoding': pieces } = request.headers;
    const hasBody = Number(length) > 0 || pieces !== undefined;
    if (authorization === undefined && (hasBody || cookieOf(request) === undefined)) return await this.#withCode(visit);
    const admitted = await guard.admit(visit, api);
    if (admitted) await api.handle(admitted);
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  async #withCode(visit: HttpVisit): Promise<void> {
    const { response, peer, gone } = visit;
    const { failed, tries, logins, redeem } = this.#options;
    try {
      const { data } = CodeBody.safeParse(await readArguments(visit, mostBytes));
      if (!data) throw noCode();
      if (!redeem(data.code)) {
        failed.add({ peer, face: 'http' });
        if (tries.add(peer)) throw tooManyTries();
        await failed.pause(failed.delayMs, gone);
        throw wrongCode();
      }
      tries.forget(peer);
      beginLogin(visit, logins);
    } catch (thrown) {
      if (gone.aborted) return;
      if (!(thrown instanceof FairleadError)) throw thrown;
      const refusal = refusalOf(thrown);
      const headers = { 'retry-after': String(codeWaitMs / 1000) };
      sendRefusal(response, refusal.code === 'limit_reached' ? { ...refusal, headers } : refusal);
    }
  }
}

/** A login takes the place of an earlier one of the same browser. */
export function beginLogin({ request, response, peer }: HttpVisit, logins: BrowserLogins): void {
  const before = logins.find(cookieOf(request) ?? '');
  if (before) logins.end(before.id);
  const from = { browser: browserName(request.headers['user-agent']), address: hostOf(peer) };
  const { login, cookie, csrf } = logins.begin(from);
  const facts = { csrf_token: csrf, expires_at: new Date(login.began + loginMs).toISOString() };
  sendJson(response, 200, facts, { 'set-cookie': setCookie(request, cookie) });
}

const newLink = 'Open a new link: run fairlead dashboard.';

const noCode = (): FairleadError =>
  new FairleadError('not_authenticated', 'A login needs the token, or the code of a link.', {
    hint: `Send the header Authorization: Bearer <token>, or {"code": …}. ${newLink}`,
  });

const wrongCode = (): FairleadError =>
  new FairleadError('not_authenticated', 'This link was used or is older than a minute.', { hint: newLink });

/**
 * Only wrong codes hear this. A code is 192 random bits, so tries cannot find one; but all users of this machine share its address, and one
 * of them could otherwise lock the person out.
 */
const tooManyTries = (): FairleadError =>
  new FairleadError('limit_reached', 'Too many tries from this address. Try again in 15 minutes.', { hint: newLink });
