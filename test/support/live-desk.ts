import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { call } from '../../src/engine/call/call.ts';
import { callStream } from '../../src/engine/call/call-stream.ts';
import type { Access } from '../../src/engine/call/operation.ts';
import { localOwner } from '../../src/engine/call/principal.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { Terminal } from '../../src/engine/terminal/terminal.ts';
import { Live as LiveFace } from '../../src/faces/http/live/live.ts';
import { BrowserLogins } from '../../src/engine/instances/browser-logins.ts';
import { HttpServer } from '../../src/faces/http/server.ts';
import { TokenGuard } from '../../src/faces/http/token-guard.ts';
import { personBook } from '../../src/operations/person/index.ts';
import { systemClock } from '../../src/system/clock.ts';
import { Live, type LiveEvents, type LiveParts, type Socket } from '../../web/src/lib/live.ts';
import { EchoChannel } from './echo-channel.ts';
import { engineWith, limit } from './engine.ts';

interface LiveDeskOptions {
  readonly size?: { readonly cols: number; readonly rows: number };
  /** Bytes of output that are kept. */
  readonly capacity?: number;
  readonly may?: (access: Access) => boolean;
}

export const liveToken = 'a-token-for-live';

/** The WebSocket of the dashboard in front of a terminal whose far side is the test. */
export class LiveDesk implements AsyncDisposable {
  readonly engine: Engine;
  readonly far: EchoChannel;
  readonly terminal: Terminal;
  readonly logins: BrowserLogins;
  readonly #server: HttpServer;
  readonly #home: string;

  private constructor(
    home: string,
    engine: Engine,
    far: EchoChannel,
    terminal: Terminal,
    server: HttpServer,
    logins: BrowserLogins,
  ) {
    this.#home = home;
    this.engine = engine;
    this.far = far;
    this.terminal = terminal;
    this.#server = server;
    this.logins = logins;
  }

  static async open({
    size = { cols: 80, rows: 24 },
    capacity,
    may = () => true,
  }: LiveDeskOptions = {}): Promise<LiveDesk> {
    const home = mkdtempSync(join(tmpdir(), 'fairlead-live-'));
    const far = new EchoChannel(size, { echo: false });
    const engine = engineWith(home, {
      echo: () => Promise.resolve({ channel: far, program: 'echo', capacity }),
    });
    const terminal = await engine.open({ target: 'echo', size }, limit());
    const clock = systemClock;
    const logins = new BrowserLogins({ clock });
    const live = new LiveFace({
      books: [personBook],
      call: (op, raw, context) => call(op, raw, { ...context, engine }),
      stream: (op, raw, context) => callStream(op, raw, { ...context, engine }),
      principal: localOwner,
      may,
      clock,
    });
    const guard = new TokenGuard({ token: liveToken, allowedHosts: [], allowedOrigins: [], logins });
    const server = await HttpServer.listen({ host: '127.0.0.1', ports: [0], guard, routes: [live] });
    return new LiveDesk(home, engine, far, terminal, server, logins);
  }

  get url(): string {
    return this.#server.url;
  }

  socket(headers: Readonly<Record<string, string>> = { authorization: `Bearer ${liveToken}` }): WebSocket {
    return new WebSocket(`${this.url.replace('http', 'ws')}/api/live`, { headers });
  }

  /** The page's own end of it, in this process. `opened` gets each of its sockets. */
  client(opened: (socket: WebSocket) => void, events: Partial<LiveEvents> = {}, parts: Partial<LiveParts> = {}): Live {
    return new Live(
      {
        csrf: undefined,
        open: () => {
          const socket = this.socket();
          socket.on('error', () => {});
          opened(socket);
          return socket as unknown as Socket;
        },
        clock: {
          now: () => performance.now(),
          after: (ms, run) => {
            const timer = setTimeout(run, ms);
            return () => clearTimeout(timer);
          },
        },
        random: () => Math.random(),
        isHidden: () => false,
        signs: () => {},
        ...parts,
      },
      { link: () => {}, roundTrip: () => {}, ...events },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
    await this.engine[Symbol.asyncDispose]();
    rmSync(this.#home, { recursive: true, force: true });
  }
}
