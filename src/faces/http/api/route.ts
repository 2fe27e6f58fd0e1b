import { FairleadError } from '../../../contract/errors.ts';
import type { Caller, CallOperation } from '../../../engine/call/call.ts';
import type { CallStream } from '../../../engine/call/call-stream.ts';
import type { Book } from '../../../engine/call/operation.ts';
import type { BrowserLogins } from '../../../engine/instances/browser-logins.ts';
import type { Clock } from '../../../lib/clock.ts';
import { anyOf } from '../../../system/any-of.ts';
import { CallsEnd } from '../../door/calls-end.ts';
import { beginLogin } from '../login.ts';
import { setCookie } from '../cookie.ts';
import { refusalOf, sendFile, sendJson, sendRefusal, sendText, wrongMethod } from '../reply.ts';
import type { HttpVisit, Route } from '../route.ts';
import { sendEvents } from './events.ts';
import { readArguments } from './arguments.ts';
import { ApiPaths, argumentsAt, type FoundPath } from './paths.ts';
import { ApiTable } from './table.ts';

interface ApiOptions {
  readonly books: readonly Book[];
  readonly call: CallOperation;
  readonly stream: CallStream;
  /** Whose things its callers see. */
  readonly principal: string;
  readonly may: Caller['may'];
  readonly logins: BrowserLogins;
  readonly clock: Clock;
}

/** Calls and streams that are served at one time. */
const mostServed = 256;
/** How long calls may take to answer once they are told to stop waiting. */
const answerMs = 200;

/** Every operation of the books at `/api/<noun>/<verb>`. */
export class Api implements Route {
  readonly path = '/api';
  readonly below = true;
  readonly takesCookie = true;
  readonly #options: ApiOptions;
  readonly #table: ApiTable;
  readonly #paths: ApiPaths;
  readonly #ending = new CallsEnd();

  constructor(options: ApiOptions) {
    this.#options = options;
    this.#table = new ApiTable(options.books, options.may);
    this.#paths = new ApiPaths(options.books);
  }

  /** Routes for the paths that references fix outside /api. */
  get elsewhere(): Route[] {
    return this.#paths.elsewhere.map((path) => ({
      path,
      takesCookie: true,
      handle: (visit) => this.handle(visit),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    }));
  }

  async handle(visit: HttpVisit): Promise<void> {
    const { response, gone } = visit;
    try {
      await this.#ending.attend(this.#answer(visit));
    } catch (thrown) {
      if (gone.aborted) return;
      if (!(thrown instanceof FairleadError)) throw thrown;
      sendRefusal(response, refusalOf(thrown));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.begin('The server is closing.');
    await this.#ending.answered(answerMs);
  }

  async #answer(visit: HttpVisit): Promise<void> {
    const { request, response } = visit;
    const fixed = this.#paths.find(request.method ?? '', visit.path);
    if (fixed) {
      return 'allow' in fixed ? sendRefusal(response, wrongMethod(fixed.allow)) : await this.#runAt(fixed, visit);
    }
    const [, , ...words] = visit.path.split('/');
    const path = words.join('/');
    const isPost = request.method === 'POST';
    if (path === 'login') return isPost ? this.#logIn(visit) : sendRefusal(response, wrongMethod('POST'));
    if (path === 'logout') return isPost ? this.#logOut(visit) : sendRefusal(response, wrongMethod('POST'));
    if (path === '') {
      return request.method === 'GET'
        ? sendJson(response, 200, this.#table.list())
        : sendRefusal(response, wrongMethod('GET'));
    }
    if (request.method === 'GET') return sendJson(response, 200, this.#table.describe(path));
    if (!isPost) return sendRefusal(response, wrongMethod('GET, POST'));
    await this.#run(path, visit);
  }

  async #runAt(found: FoundPath, visit: HttpVisit): Promise<void> {
    const { response, gone, login } = visit;
    const { op, route } = found;
    this.#mustHaveRoom();
    const input = await argumentsAt(found, visit);
    using stop = anyOf(gone, this.#ending.signal, ...(login ? [login.ended] : []));
    const output: unknown = await this.#options.call(op, input, {
      caller: this.#caller(visit),
      signal: stop.signal,
    });
    if (route.file) sendFile(response, route.file(output as never));
    else if (route.text) sendText(response, 200, route.text(output as never), plainText);
    else sendJson(response, 200, route.answer ? route.answer(output as never) : output);
  }

  #mustHaveRoom(): void {
    if (this.#ending.underWay >= mostServed) throw new FairleadError('limit_reached', 'Too many concurrent requests.');
  }

  async #run(path: string, visit: HttpVisit): Promise<void> {
    const { request, response, gone, login } = visit;
    const entry = this.#table.find(path);
    this.#mustHaveRoom();
    const input = await readArguments(visit);
    using stop = anyOf(gone, this.#ending.signal, ...(login ? [login.ended] : []));
    const context = { caller: this.#caller(visit), signal: stop.signal };
    if (entry.kind === 'stream') {
      if (!request.headers.accept?.includes('text/event-stream')) throw notAccepted();
      const items = this.#options.stream(entry.op, input, context);
      return await sendEvents(items, visit, this.#options.clock);
    }
    const { 'idempotency-key': key } = request.headers;
    const output = await this.#options.call(entry.op, input, {
      ...context,
      key: key === undefined ? key : { value: key },
    });
    sendJson(response, 200, output);
  }

  #caller({ request, peer, login }: HttpVisit): Caller {
    const { principal, may } = this.#options;
    const name = request.headers['user-agent']?.slice(0, 100) ?? 'http';
    const caller: Caller = { name, principal, origin: 'http', peer, may };
    // A browser that a person logged in with is that person.
    return login ? { ...caller, name: 'person', isPerson: true } : caller;
  }

  #logIn(visit: HttpVisit): void {
    // Otherwise a cookie could prolong itself for ever.
    if (visit.login) throw new FairleadError('not_authenticated', 'A login needs the token.', { hint: bearerHint });
    beginLogin(visit, this.#options.logins);
  }

  #logOut({ request, response, login }: HttpVisit): void {
    if (login) this.#options.logins.end(login.id);
    sendJson(response, 200, {}, { 'set-cookie': setCookie(request, undefined) });
  }
}

const plainText = {
  'content-type': 'text/plain; charset=utf-8',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

const bearerHint = 'Send the header Authorization: Bearer <token>.';

const notAccepted = (): FairleadError =>
  new FairleadError('invalid_input', 'This operation is a stream of events.', {
    hint: 'Send the header Accept: text/event-stream.',
  });
