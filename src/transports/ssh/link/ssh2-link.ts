import type { Duplex } from 'node:stream';
import type { Client, ClientChannel, ExecOptions as Ssh2ExecOptions, PseudoTtyOptions } from 'ssh2';
import { remoteError } from '../../../contract/remote-errors.ts';
import type { FairleadError } from '../../../contract/errors.ts';
import { type Deferred, deferred } from '../../../lib/deferred.ts';
import type { ExecOptions, LinkEnd, PtyRequest, Refused, SshLink, SshProcess } from './link.ts';
import { Ssh2Process } from './process.ts';
import { said } from '../said.ts';
import { insideClient } from './ssh2-internals.ts';

/** How long a server may take over saying goodbye. */
const closeLimitMs = 2_000;

/** One authenticated ssh2 client, made by login.ts. */
export class Ssh2Link implements SshLink {
  readonly #client: Client;
  readonly #ended = deferred<LinkEnd>();
  readonly #stream: Duplex;
  /** Writers who wait until the connection took what was written. */
  #drained: Deferred<void> | undefined;
  #end: LinkEnd | undefined;
  #closing = false;

  constructor(client: Client, stream: Duplex) {
    this.#client = client;
    this.#stream = stream;
    let reason = 'The server closed the connection.';
    client.on('error', (error) => {
      reason = `The connection broke: ${said(error.message)}.`;
    });
    const release = (): void => {
      this.#drained?.resolve();
      this.#drained = undefined;
    };
    stream.on('drain', release);
    client.once('close', () => {
      this.#finish(this.#closing ? { by: 'us' } : { by: 'lost', reason });
      release();
    });
  }

  get ended(): Promise<LinkEnd> {
    return this.#ended.promise;
  }

  get end(): LinkEnd | undefined {
    return this.#end;
  }

  exec(command: string, { pty, env }: ExecOptions, signal: AbortSignal): Promise<SshProcess> {
    const options: Ssh2ExecOptions = { ...(env && { env }), ...(pty && { pty: terminal(pty) }) };
    return this.#open((done) => this.#client.exec(command, options, done), signal);
  }

  shell(pty: PtyRequest, { env }: Omit<ExecOptions, 'pty'>, signal: AbortSignal): Promise<SshProcess> {
    return this.#open((done) => this.#client.shell(terminal(pty), env ? { env } : {}, done), signal);
  }

  ping(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      this.#mustBeOpen();
      const abort = (): void => reject(signal.reason as Error);
      signal.addEventListener('abort', abort, { once: true });
      const { _callbacks, _protocol } = insideClient(this.#client);
      _callbacks.push((failed) => {
        signal.removeEventListener('abort', abort);
        // A server that refuses the request has answered; an error is ssh2 giving up on the connection.
        if (failed instanceof Error) reject(this.#lost());
        else resolve();
      });
      _protocol.ping();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#end !== undefined) return;
    this.#closing = true;
    this.#client.end();
    const timer = setTimeout(() => {
      this.#stream.destroy();
      // A stream through a jump host that is gone never reports its end.
      this.#finish({ by: 'us' });
    }, closeLimitMs);
    await this.#ended.promise;
    clearTimeout(timer);
  }

  #finish(end: LinkEnd): void {
    this.#end ??= end;
    this.#ended.resolve(this.#end);
  }

  /** Resolves when the connection took what was written: the windows of many channels add up to more than it holds. */
  #room(): Promise<void> | undefined {
    if (!this.#stream.writableNeedDrain || this.#end !== undefined) return undefined;
    this.#drained ??= deferred();
    return this.#drained.promise;
  }

  #open(start: (done: (error: Error | undefined, channel: ClientChannel) => void) => void, signal: AbortSignal) {
    return new Promise<SshProcess>((resolve, reject) => {
      signal.throwIfAborted();
      this.#mustBeOpen();
      const abort = (): void => reject(signal.reason as Error);
      signal.addEventListener('abort', abort, { once: true });
      let id = -1;
      const done = (error: Error | undefined, channel: ClientChannel): void => {
        signal.removeEventListener('abort', abort);
        if (error !== undefined) {
          this.#closeLeftover(id);
          reject(this.#end === undefined ? refusal(error) : this.#lost());
        } else {
          const link = { whyLost: () => this.#whyLost(), room: () => this.#room() };
          const process = new Ssh2Process(this.#client, channel, link);
          if (signal.aborted) process[Symbol.asyncDispose]().catch(() => {});
          else resolve(process);
        }
      };
      try {
        start(done);
      } catch {
        // The connection is closing, and ssh2 has seen it before it told us.
        signal.removeEventListener('abort', abort);
        reject(this.#lost());
      }
      id = insideClient(this.#client)._chanMgr._cur;
    });
  }

  /** ssh2 forgets a channel on which the server refused the command, and it would take a slot until the link ends. */
  #closeLeftover(id: number): void {
    if (this.#end !== undefined || id < 0) return;
    const channel = insideClient(this.#client)._chanMgr.get(id) as ClientChannel | undefined;
    if (typeof channel !== 'object') return;
    channel.on('error', () => {});
    channel.resume().stderr.resume();
    channel.close();
  }

  #mustBeOpen(): void {
    if (this.#end !== undefined || this.#closing) throw this.#lost();
  }

  #whyLost(): string | undefined {
    if (this.#end === undefined) return undefined;
    return this.#end.by === 'lost' ? this.#end.reason : 'The connection was closed.';
  }

  #lost(): FairleadError {
    return remoteError('TRANSPORT_ERROR', this.#whyLost() ?? 'The connection was closed.');
  }
}

const terminal = ({ term, size }: PtyRequest): PseudoTtyOptions => ({ term, ...size, width: 0, height: 0 });

/** The reasons of RFC 4254 as ssh2 numbers them. OpenSSH at its MaxSessions says "connect failed". */
const refusedBy: Readonly<Record<number, Refused>> = { 1: 'slots', 2: 'slots', 3: 'kind', 4: 'slots' };

function refusal(error: Error & { readonly reason?: unknown }): FairleadError {
  const refused: Refused = typeof error.reason === 'number' ? (refusedBy[error.reason] ?? 'kind') : 'request';
  const why = said(error.message.replace(/^\(SSH\) Channel open failure: /, ''));
  return remoteError('CHANNEL_FAILED', `The server refused the channel: ${why}.`, { data: { refused } });
}
