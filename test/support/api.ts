import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { FairleadError } from '../../src/contract/errors.ts';
import { call, type Caller } from '../../src/engine/call/call.ts';
import { callStream } from '../../src/engine/call/call-stream.ts';
import { type Access, type Book, defineBook, operation, stream } from '../../src/engine/call/operation.ts';
import { localOwner } from '../../src/engine/call/principal.ts';
import { Api } from '../../src/faces/http/api/route.ts';
import { LoginLinks } from '../../src/engine/instances/login-links.ts';
import { CodeTries } from '../../src/faces/door/code-tries.ts';
import { FailedLogins } from '../../src/faces/door/failed-logins.ts';
import { healthRoute } from '../../src/faces/http/health.ts';
import { Live } from '../../src/faces/http/live/live.ts';
import { BrowserLogins } from '../../src/engine/instances/browser-logins.ts';
import { LoginRoute } from '../../src/faces/http/login.ts';
import { HttpServer } from '../../src/faces/http/server.ts';
import { TokenGuard } from '../../src/faces/http/token-guard.ts';
import { mcpRoute } from '../../src/faces/mcp/http/route.ts';
import { type Deferred, deferred } from '../../src/lib/deferred.ts';
import { ManualClock } from './clocks/manual.ts';
import { engineWith } from './engine.ts';
import { workshop } from './mcp/workshop.ts';

/** What the operations of the desk saw. */
export class Desk {
  readonly callers: Caller[] = [];
  readonly waiting = deferred();
  readonly stopped = deferred<unknown>();
  /** How many items streams have made. */
  made = 0;
  /** What they tell of. */
  state = 0;
  /** Streams make an item each time; those that wait for it. */
  next: Deferred<void> = deferred();
  readonly left = deferred();

  /** Lets the stream `ticks` make its next item. */
  tick(): void {
    this.next.resolve();
    this.next = deferred();
  }
}

function deskBook(desk: Desk): Book {
  const plain = { title: 'Test', summary: 'For tests.', render: () => '' } as const;
  const write = operation({
    ...plain,
    access: 'control',
    keyed: true,
    input: z.strictObject({ line: z.string() }),
    output: z.object({ text: z.string(), run: z.int() }),
    run({ input, caller }) {
      desk.callers.push(caller);
      return Promise.resolve({ text: `${input.line}\n`, run: desk.callers.length });
    },
  });
  const draw = operation({
    ...plain,
    access: 'observe',
    pictures: true,
    input: z.object({}),
    output: z.object({ buffer: z.custom<Uint8Array>(), bytes: z.custom<Uint8Array>() }),
    run: () => Promise.resolve({ buffer: Buffer.from('fair'), bytes: Uint8Array.from(Buffer.from('lead')) }),
  });
  const burn = operation({
    ...plain,
    access: 'control',
    input: z.object({}),
    output: z.object({}),
    run: () =>
      Promise.reject(new FairleadError('conflict', 'It is wet.', { hint: 'Dry it.', data: { water: 'much' } })),
  });
  const wait = operation({
    ...plain,
    access: 'observe',
    input: z.object({}),
    output: z.object({}),
    async run({ signal }) {
      desk.waiting.resolve();
      await once(signal, 'abort');
      desk.stopped.resolve(signal.reason);
      throw signal.reason;
    },
  });
  /** So many items of a given size, as fast as they are taken. */
  const count = stream({
    ...plain,
    access: 'observe',
    input: z.strictObject({ to: z.int(), size: z.int().default(1), fails: z.boolean().default(false) }),
    item: z.object({ at: z.int(), state: z.int(), text: z.string() }),
    async *run({ input }) {
      for (let at = 1; at <= input.to; at++) {
        desk.made++;
        yield { at, state: desk.state, text: 'x'.repeat(input.size) };
      }
      if (input.fails) throw new FairleadError('terminal_exited', 'It ended.', { hint: 'Open another.' });
    },
  });
  /** An item for each tick of the desk. */
  const ticks = stream({
    ...plain,
    access: 'observe',
    input: z.strictObject({}),
    item: z.object({ at: z.int() }),
    async *run({ signal }) {
      const aborted = once(signal, 'abort');
      try {
        for (let at = 1; ; at++) {
          desk.waiting.resolve();
          await Promise.race([desk.next.promise, aborted]);
          yield { at };
        }
      } finally {
        desk.left.resolve();
      }
    },
  });
  return defineBook({
    name: 'desk',
    summary: 'For tests.',
    nouns: { desk: { write, draw, burn, wait } },
    streams: { desk: { count, ticks } },
    renderError: ({ message }) => message,
  });
}

export const token = 'a-token-for-tests';
export const bearer = { authorization: `Bearer ${token}` };

export interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The HTTP API over a small book, on a port of its own, with MCP beside it. */
export class ApiDesk implements AsyncDisposable {
  readonly desk = new Desk();
  readonly clock = new ManualClock(Date.parse('2026-01-01T00:00:00Z'));
  readonly links = new LoginLinks(this.clock);
  readonly engine = engineWith(join(tmpdir(), 'none'), {});
  #server: HttpServer | undefined;

  static async open(may: (access: Access) => boolean = () => true): Promise<ApiDesk> {
    const desk = new ApiDesk();
    const { clock, engine, links } = desk;
    const failed = new FailedLogins(clock, () => {});
    const logins = new BrowserLogins({ clock });
    const served = {
      books: [deskBook(desk.desk)],
      call: (op, raw, context) => call(op, raw, { ...context, engine }),
      stream: (op, raw, context) => callStream(op, raw, { ...context, engine }),
      principal: localOwner,
      may,
      clock,
    } satisfies ConstructorParameters<typeof Live>[0];
    const guard = new TokenGuard({ token, allowedHosts: [], allowedOrigins: [], logins });
    const api = new Api({ ...served, logins });
    const redeem = (code: string): boolean => links.redeem(code);
    desk.#server = await HttpServer.listen({
      host: '127.0.0.1',
      ports: [0],
      guard,
      routes: [
        healthRoute,
        mcpRoute(workshop().surface, { principal: localOwner }),
        new Live(served),
        new LoginRoute({ logins, redeem, failed, tries: new CodeTries(clock), guard, api }),
        api,
      ],
    });
    links.serveAt(desk.#server.url);
    return desk;
  }

  get server(): HttpServer {
    if (!this.#server) throw new Error('Not open.');
    return this.#server;
  }

  get url(): string {
    return this.server.url;
  }

  /** fetch does not let a test choose Host. */
  async ask(path: string, { method = 'POST', headers = bearer, body }: Asked = {}): Promise<Reply> {
    const sent = httpRequest(`${this.url}${path}`, { method, headers, agent: false });
    // A refused body may still be on its way when the connection is closed.
    sent.on('error', () => {});
    sent.end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    let text = '';
    for await (const chunk of response) text += String(chunk);
    return { status: response.statusCode ?? 0, headers: response.headers, text, json: parsed(text) };
  }

  /** A call with JSON arguments. */
  async call(path: string, input: unknown, headers: Readonly<Record<string, string>> = bearer): Promise<Reply> {
    return await this.ask(path, {
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(input),
    });
  }

  /** The code of a new login link. */
  code(): string {
    return this.links.make().split('#code=')[1] ?? '';
  }

  /** Headers of a browser that has logged in. */
  async logIn(): Promise<{ cookie: string; 'x-csrf-token': string }> {
    const { headers, json } = await this.ask('/api/login');
    const [cookie = ''] = (headers['set-cookie']?.[0] ?? '').split(';', 1);
    return { cookie, 'x-csrf-token': String((json as { csrf_token: string }).csrf_token) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
    await this.engine[Symbol.asyncDispose]();
  }
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  readonly json: unknown;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
