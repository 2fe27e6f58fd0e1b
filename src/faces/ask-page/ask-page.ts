import { randomBytes } from 'node:crypto';
import { FairleadError } from '../../contract/errors.ts';
import type { OpenQuestion } from '../../engine/person/questions/question.ts';
import { call, type Caller } from '../../engine/call/call.ts';
import { localPerson } from '../../engine/call/principal.ts';
import type { Engine } from '../../engine/engine.ts';
import { answer, decline } from '../../operations/person/index.ts';
import type { HttpVisit } from '../http/route.ts';
import type { HttpServer } from '../http/server.ts';
import { questionPage } from './html.ts';
import { notice, type PageReply, servePages } from './serve-pages.ts';

/** The link was shown to the person alone and is good for one question, so its reader answers as the owner. */
const answering = ({ principal }: OpenQuestion): Caller => ({
  ...localPerson,
  principal,
  origin: 'http',
  peer: undefined,
});

/** The longest answer, every character of it escaped. */
const maxBodyBytes = 64 << 10;
/** Several calls may wait for one answer, each with a link of its own. */
const mostLinks = 256;
/** Kept after the last question: a button pressed twice is still thanked. */
const lingerMs = 2000;

const thanks = notice(200, 'Thank you', 'Your answer was handed over. You can close this page.');
const declined = notice(200, 'Nothing was sent', 'The agent learns that you did not answer. You can close this page.');
const gone = notice(404, 'This question is no longer open', 'It was answered elsewhere or withdrawn, or time ran out.');
const misshapen = notice(400, 'That was no answer', 'Go back and try again.');

/**
 * Pages on which the person answers, each at an unguessable address and good for one answer. The server listens on
 * loopback from the first link until no question is open.
 */
export class AskPage implements AsyncDisposable {
  readonly #engine: Engine;
  /** Token → id of the question. */
  readonly #links = new Map<string, string>();
  /** Token → how it was used. */
  readonly #used = new Map<string, PageReply>();
  readonly #watch: Disposable;
  #server: Promise<HttpServer> | undefined;
  #linger: Disposable | undefined;

  constructor(engine: Engine) {
    this.#engine = engine;
    this.#watch = engine.questions.changed.on(() => this.#endWhenIdle());
  }

  /** The address at which this question can be answered. */
  async link({ id }: OpenQuestion): Promise<string> {
    const token = randomBytes(24).toString('base64url');
    this.#links.set(token, id);
    const [oldest] = this.#links.keys();
    if (this.#links.size > mostLinks && oldest !== undefined) this.#links.delete(oldest);
    this.#linger?.[Symbol.dispose]();
    this.#server ??= servePages((visit) => this.#reply(visit));
    try {
      const { url } = await this.#server;
      return `${url}/ask/${token}`;
    } catch (thrown) {
      this.#server = undefined;
      throw thrown;
    } finally {
      // The question may have been answered elsewhere meanwhile.
      this.#endWhenIdle();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#watch[Symbol.dispose]();
    await this.#end();
  }

  #endWhenIdle(): void {
    this.#linger?.[Symbol.dispose]();
    if (!this.#server || [...this.#links.values()].some((id) => this.#engine.questions.get(id))) return;
    this.#linger = this.#engine.clock.after(lingerMs, () => this.#engine.background(this.#end()));
  }

  async #end(): Promise<void> {
    this.#linger?.[Symbol.dispose]();
    const server = this.#server;
    this.#server = undefined;
    this.#links.clear();
    this.#used.clear();
    const listening = await server?.catch(() => undefined);
    await listening?.[Symbol.asyncDispose]();
  }

  async #reply(visit: HttpVisit): Promise<PageReply> {
    const token = /^\/ask\/([\w-]{32})$/.exec(visit.request.url ?? '')?.[1] ?? '';
    const question = this.#engine.questions.get(this.#links.get(token) ?? '');
    if (!question) return this.#used.get(token) ?? gone;
    const { method } = visit.request;
    if (method === 'GET') return { status: 200, html: questionPage(question, this.#engine.clock.now()) };
    if (method !== 'POST') return misshapen;
    const reply = await this.#take(question, await readForm(visit));
    const first = this.#used.get(token);
    if (first) return first;
    if (reply !== misshapen) this.#used.set(token, reply);
    return reply;
  }

  async #take(question: OpenQuestion, form: URLSearchParams | undefined): Promise<PageReply> {
    const { id: item, prompt, secret } = question;
    // Closing the page does not take an answer back.
    const context = { engine: this.#engine, caller: answering(question), signal: this.#engine.closing };
    try {
      if (form?.get('do') === 'decline') {
        await call(decline, { item }, context);
        return declined;
      }
      const text = form?.get('answer');
      if (text === null || text === undefined || (text === '' && secret)) return misshapen;
      await call(answer, { item, text, prompt }, context);
      return thanks;
    } catch (thrown) {
      if (thrown instanceof FairleadError && thrown.code === 'not_found') return gone;
      if (thrown instanceof FairleadError && thrown.code === 'too_large') return misshapen;
      throw thrown;
    }
  }
}

async function readForm({ request, body }: HttpVisit): Promise<URLSearchParams | undefined> {
  if (!/^application\/x-www-form-urlencoded\b/i.test(request.headers['content-type'] ?? '')) return undefined;
  const text = await body(maxBodyBytes);
  return text === undefined ? undefined : new URLSearchParams(text);
}
