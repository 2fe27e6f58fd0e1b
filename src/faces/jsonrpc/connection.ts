import { once, setMaxListeners } from 'node:events';
import type { Socket } from 'node:net';
import type { Caller } from '../../engine/call/call.ts';
import { localOwner } from '../../engine/call/principal.ts';
import type { Clock } from '../../lib/clock.ts';
import type { FailedLogins } from '../door/failed-logins.ts';
import type { Strangers } from '../door/strangers.ts';
import { LineSplitter } from '../socket/lines.ts';
import { TokenLogin } from './login.ts';
import type { RpcAnswer, MethodTable } from './methods.ts';
import { codes, errorLine, type ParsedRequest, parseRequest, type Request, resultLine } from './wire.ts';

interface ConnectionOptions {
  readonly token: string;
  readonly methods: MethodTable;
  readonly clock: Clock;
  readonly strangers: Strangers;
  readonly failed: FailedLogins;
  /** Aborted when the server ends. */
  readonly ending: AbortSignal;
}

/** Limits before the login: for a line, and for waiting requests. */
const strangerLineBytes = 64 << 10;
const strangerWaiting = 16;
/** Requests that wait while one is answered. With more than that, the client's socket is not read. */
const mostWaiting = 256;
/** A client that has not logged in by then is dropped. */
const loginMs = 30_000;
/** After the client's last byte a call may take this long to answer; then its waiting ends. */
const lastAnswerMs = 50;
/** A client that was refused may go on sending for this long. */
const refusedMs = 2000;
/** A client that does not read its answers for this long is dropped. */
const stuckMs = 60_000;

/** One client of the line protocol. Answers leave in the order of the requests unless the client asked otherwise. */
export class Connection {
  readonly #socket: Socket;
  readonly #options: ConnectionOptions;
  readonly #login: TokenLogin;
  readonly #lines = new LineSplitter();
  readonly #waiting: ParsedRequest[] = [];
  readonly #gone = new AbortController();
  readonly #running = new Set<Promise<void>>();
  /** Kept here because a closed socket no longer knows it. */
  readonly #peer: string;
  #working = false;
  #room: Promise<void> | undefined;
  #inputEnded = false;
  #refused = false;

  constructor(socket: Socket, options: ConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#peer = `${socket.remoteAddress ?? 'gone'}:${socket.remotePort ?? 0}`;
    this.#login = new TokenLogin(options.token);
    options.strangers.add(socket);
    // Every call under way listens: their number is no sign of a leak.
    setMaxListeners(0, this.#gone.signal);
    const limit = options.clock.after(loginMs, () => {
      if (!this.#login.authenticated) socket.destroy();
    });
    const end = (): void => this.#gone.abort(new Error('The server is closing.'));
    options.ending.addEventListener('abort', end, { once: true });
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.on('end', () => this.#lastWords());
    socket.on('error', () => {});
    socket.on('close', () => {
      limit[Symbol.dispose]();
      options.ending.removeEventListener('abort', end);
      this.#waiting.length = 0;
      this.#gone.abort(new Error('The client closed the connection.'));
    });
  }

  #take(chunk: Buffer): void {
    if (this.#refused) return;
    const lines = this.#lines.push(chunk);
    if (lines === undefined) return this.#refuse('a line may have at most 16 MiB');
    for (const line of lines) {
      if (line.trim() === '') continue;
      if (!this.#login.authenticated && line.length > strangerLineBytes) return this.#refuse(loginFirst);
      const parsed = parseRequest(line);
      this.#waiting.push(parsed);
      // A browser, a scanner or another protocol.
      if (!this.#login.authenticated && isNoRequest(parsed)) return this.#refuse(loginFirst, parsed);
      // A login is processed before the lines behind it: their limits depend on it.
      if (!this.#login.authenticated) this.#work();
    }
    this.#restrain();
    this.#work();
  }

  /** Stops reading while enough requests wait. Before the login little is read, and nothing while the login is processed. */
  #restrain(): void {
    if (this.#login.authenticated) {
      if (this.#waiting.length >= mostWaiting) this.#socket.pause();
      return;
    }
    const isTooMuch = this.#waiting.length > strangerWaiting || this.#lines.pending > strangerLineBytes;
    if (isTooMuch) this.#refuse(loginFirst);
    else if (this.#waiting.length > 0 || this.#working) this.#socket.pause();
  }

  /** Says why and ends. Further input is read and dropped: closing a socket with unread bytes would lose the answer. */
  #refuse(why: string, parsed?: ParsedRequest): void {
    this.#refused = true;
    this.#waiting.length = 0;
    this.#socket.resume();
    const error =
      parsed && 'error' in parsed ? parsed.error : { code: codes.invalid, message: `Invalid request: ${why}` };
    this.#socket.end(errorLine(null, error));
    const limit = this.#options.clock.after(refusedMs, () => this.#socket.destroy());
    this.#socket.on('close', () => limit[Symbol.dispose]());
  }

  #work(): void {
    if (this.#working) return;
    this.#working = true;
    this.#answerAll().then(
      () => {
        this.#working = false;
        if (this.#waiting.length > 0) return this.#work();
        if (this.#socket.isPaused() && !this.#refused) {
          this.#restrain();
          this.#socket.resume();
        }
        this.#endIfDone();
      },
      () => this.#socket.destroy(),
    );
  }

  async #answerAll(): Promise<void> {
    for (let next = this.#next(); next.length > 0; next = this.#next()) {
      if (this.#socket.isPaused() && this.#waiting.length < mostWaiting / 2) this.#socket.resume();
      const answers = next.map((one) => this.#answer(one));
      // An answer may fail before its turn comes.
      for (const answer of answers) answer.catch(() => {});
      for (const answer of answers) {
        if (this.#login.concurrent) this.#together(answer);
        else await this.#send(await answer);
      }
      if (this.#running.size >= mostWaiting) await Promise.race(this.#running);
    }
  }

  /** The next request, with those behind it that can run at the same time. */
  #next(): ParsedRequest[] {
    const other = this.#waiting.findIndex((one) => !this.#isTogether(one));
    return this.#waiting.splice(0, other === -1 ? this.#waiting.length : Math.max(other, 1));
  }

  #isTogether(parsed: ParsedRequest): boolean {
    return 'request' in parsed && this.#options.methods.isTogether(parsed.request.method);
  }

  /** The client's input has ended, and every answer was sent. */
  #endIfDone(): void {
    if (this.#inputEnded && !this.#working && this.#running.size === 0) this.#socket.end();
  }

  #together(answer: Promise<string>): void {
    const sent = answer
      .then((line) => this.#send(line))
      .finally(() => {
        this.#running.delete(sent);
        this.#endIfDone();
      });
    this.#running.add(sent);
    sent.catch(() => this.#socket.destroy());
  }

  async #answer(parsed: ParsedRequest): Promise<string> {
    if ('error' in parsed) return errorLine(parsed.id, parsed.error);
    const { request } = parsed;
    if (request.method === 'auth.login') return await this.#logIn(request);
    if (!this.#login.authenticated) {
      const message = 'Not authenticated. Call auth.login first';
      return errorLine(request.id, { code: codes.notAuthenticated, message });
    }
    const { clientName: name, origin, ownSession } = this.#login;
    const { signal } = this.#gone;
    const from = { peer: this.#peer, connection: signal, ownSession };
    const caller: Caller = { name, principal: localOwner, origin, may: () => true, ...from };
    const context = { caller, signal };
    const answer: RpcAnswer = await this.#options.methods.run(request.method, request.params, context);
    return 'error' in answer ? errorLine(request.id, answer.error) : resultLine(request.id, answer.result);
  }

  async #logIn({ id, params }: Request): Promise<string> {
    const { failed } = this.#options;
    const { delayMs } = this.#login;
    // A login is answered in the same turn: what the lines behind it may be depends on it.
    if (delayMs > 0) await failed.pause(delayMs, this.#gone.signal);
    const answer = this.#login.attempt(params);
    if (!('code' in answer)) {
      this.#options.strangers.recognise(this.#socket);
      return resultLine(id, answer);
    }
    failed.add({ peer: this.#peer, face: 'rpc' });
    // Failures on other connections delay only wrong tokens.
    if (delayMs === 0 && !this.#login.authenticated) await failed.pause(failed.delayMs, this.#gone.signal);
    return errorLine(id, answer);
  }

  async #send(line: string): Promise<void> {
    // A client that was refused meanwhile gets no more answers.
    if (!this.#socket.writable || this.#socket.write(line)) return;
    // All waiting answers share one listener.
    this.#room ??= this.#untilRoom().finally(() => {
      this.#room = undefined;
    });
    await this.#room;
  }

  async #untilRoom(): Promise<void> {
    using _limit = this.#options.clock.after(stuckMs, () => this.#socket.destroy());
    const settled = new AbortController();
    try {
      const { signal } = settled;
      await Promise.race([once(this.#socket, 'drain', { signal }), once(this.#socket, 'close', { signal })]);
    } finally {
      // Removes the listener that did not fire.
      settled.abort();
    }
  }

  /** The client's input has ended. Whether it still reads shows only when it is written to. */
  #lastWords(): void {
    this.#inputEnded = true;
    if (!this.#working && this.#running.size === 0) this.#socket.end();
    else this.#options.clock.after(lastAnswerMs, () => this.#gone.abort(new Error('The client has hung up.')));
  }
}

const loginFirst = 'log in first, with auth.login in one short line of JSON';

/** Not an object with a method: another protocol. */
const isNoRequest = (parsed: ParsedRequest): boolean => 'error' in parsed;
