import type { Client, ClientChannel } from 'ssh2';
import type { Ended, Signal, Size } from '../../../engine/terminal/channel.ts';
import { FairleadError } from '../../../contract/errors.ts';
import { ByteQueue, type ByteSource } from '../../../lib/byte-queue.ts';
import { deferred } from '../../../lib/deferred.ts';
import { Arrivals } from './arrivals.ts';
import type { OutputPart, SshProcess, StreamName } from './link.ts';
import { SmallPackets } from './small-packets.ts';
import { insideChannel, insideClient } from './ssh2-internals.ts';

/** What ssh2 lets the server send before it must wait for us. */
const fullWindow = 2 << 20;
/** How long a server may take to confirm that a channel is closed. */
const closeLimitMs = 2_000;
const pieceBytes = 32 << 10;
const hangUpAgainMs = 60;
/** The signals of RFC 4254; a server knows no others. */
const knownSignals: ReadonlySet<string> = new Set(['HUP', 'INT', 'KILL', 'QUIT', 'TERM', 'USR1', 'USR2']);

/** What a process needs of the link it runs on. */
interface OwnLink {
  /** Why the link is gone, if it is. */
  readonly whyLost: () => string | undefined;
  /** Undefined: there is room. */
  readonly room: () => Promise<void> | undefined;
}

/**
 * One session channel of ssh2, without the streams ssh2 puts around it.
 *
 * Those streams give the server new window for what one of stdout and stderr has consumed even while the other is
 * full, so a reader of only one of them lets the other grow without bound; and they report the close only to a reader
 * who reads to the end. So the bytes are taken where ssh2 would push them into its streams, and new window is given
 * for exactly what our readers took.
 */
export class Ssh2Process implements SshProcess {
  readonly #stdout: ByteQueue;
  readonly #stderr: ByteQueue;
  readonly #arrivals: Arrivals;
  readonly #channel: ClientChannel;
  readonly #link: OwnLink;
  readonly #client: Client;
  readonly #ended = deferred<Ended>();
  readonly #packets = new SmallPackets<StreamName>((name, bytes) => {
    this.#queue(name).push(bytes);
    this.#arrivals.came(name);
  });
  /** Writers the far side's window has not yet let through. */
  readonly #writers = new Set<(reason: FairleadError) => void>();
  /** Settles when everything written so far was sent; undefined: it was. */
  #sending: Promise<void> | undefined;
  /** Whether it has said anything, so it surely runs. */
  #heard = false;
  #over = false;
  #inputClosed = false;

  /** Must be made in the same turn in which ssh2 hands out the channel, or its first bytes are missed. */
  constructor(client: Client, channel: ClientChannel, link: OwnLink) {
    this.#link = link;
    this.#channel = channel;
    this.#client = client;
    const taken = (name: StreamName): void => {
      if (this.#packets.wanted(name) && this.#queue(name).size === 0) this.#packets.flush();
      this.#widen();
    };
    const queueOf = (name: StreamName) =>
      new ByteQueue(
        1,
        () => taken(name),
        () => taken(name),
      );
    this.#stdout = queueOf('stdout');
    this.#stderr = queueOf('stderr');
    this.#arrivals = new Arrivals(this.#stdout, this.#stderr);
    for (const [name, stream, queue] of [
      ['stdout', channel, this.#stdout],
      ['stderr', channel.stderr, this.#stderr],
    ] as const) {
      stream.push = (bytes: Uint8Array | null) => {
        if (bytes === null) {
          this.#packets.flush();
          queue.end();
          // ssh2 waits for this before it says that the channel is closed.
          stream.emit('end');
          return false;
        }
        this.#heard = true;
        this.#packets.push(name, bytes, queue.size > 0);
        this.#widen();
        // "Full": so ssh2 never gives new window by itself.
        return false;
      };
    }
    channel.on('error', () => {});
    channel.once('close', (code?: number | null, signal?: string) =>
      this.#end(howItEnded(code, signal, link.whyLost())),
    );
  }

  #queue(name: StreamName): ByteQueue {
    return name === 'stdout' ? this.#stdout : this.#stderr;
  }

  get output(): AsyncIterable<OutputPart> {
    return this.#arrivals;
  }

  get stdout(): ByteSource {
    this.#arrivals.forget();
    return this.#stdout;
  }

  get stderr(): ByteSource {
    this.#arrivals.forget();
    return this.#stderr;
  }

  get ended(): Promise<Ended> {
    return this.#ended.promise;
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (this.#over) throw exited();
    if (this.#inputClosed) throw new FairleadError('conflict', 'The input of this command is closed.');
    if (bytes.length === 0) return;
    const work = this.#sendAll(bytes, this.#sending);
    const sending = work
      .catch(() => {})
      .then(() => {
        if (this.#sending === sending) this.#sending = undefined;
      });
    this.#sending = sending;
    await work;
  }

  /** In pieces, each when the connection took what was written before: all of it at once would wait in memory. */
  async #sendAll(bytes: Uint8Array, earlier: Promise<void> | undefined): Promise<void> {
    if (earlier !== undefined) await earlier;
    for (let from = 0; from < bytes.length; from += pieceBytes) {
      await this.#send(bytes.subarray(from, from + pieceBytes));
      await this.#link.room();
    }
  }

  #send(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#writers.add(reject);
      this.#channel.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), (error) => {
        this.#writers.delete(reject);
        if (error) reject(exited());
        else resolve();
      });
    });
  }

  end(): void {
    if (this.#over || this.#inputClosed) return;
    this.#inputClosed = true;
    if (this.#sending === undefined) this.#channel.end();
    else this.#sending.then(() => this.#channel.end()).catch(() => {});
  }

  signal(name: Signal): void {
    if (this.#over) return;
    if (!knownSignals.has(name)) throw new FairleadError('unsupported', `SSH has no signal ${name}.`);
    this.#signal(name);
  }

  resize({ cols, rows }: Size): void {
    if (!this.#over) this.#channel.setWindow(rows, cols, 0, 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#over) return;
    await this.#hangUp();
    this.#channel.close();
    const timer = setTimeout(
      () => this.#end({ by: 'lost', reason: 'The server did not close the channel.' }),
      closeLimitMs,
    );
    await this.#ended.promise;
    clearTimeout(timer);
  }

  /**
   * Without it, a server keeps what runs without a terminal, and its slot, until that ends by itself. A command that
   * has said nothing may not have started: OpenSSH loses a signal that comes before its first step, and takes none after
   * the close.
   */
  async #hangUp(): Promise<void> {
    this.#signal('HUP');
    for (let again = 0; again < 3 && !this.#heard && !this.#over; again += 1) {
      let timer: NodeJS.Timeout | undefined;
      await Promise.race([this.#ended.promise, new Promise((resolve) => (timer = setTimeout(resolve, hangUpAgainMs)))]);
      clearTimeout(timer);
      if (!this.#over) this.#signal('HUP');
    }
  }

  /** ssh2 sends none once the input is closed, though only data ends with it. */
  #signal(name: Signal): void {
    const { outgoing } = insideChannel(this.#channel);
    if (outgoing.state === 'open' || outgoing.state === 'eof')
      insideClient(this.#client)._protocol.signal(outgoing.id, name);
  }

  /** Gives the server window for what the readers took, in halves of it: a message for each packet would be noise. */
  #widen(): void {
    const { incoming, outgoing } = insideChannel(this.#channel);
    if (this.#over || incoming.state !== 'open' || outgoing.state === 'closed') return;
    const taken = fullWindow - incoming.window - this.#stdout.size - this.#stderr.size - this.#packets.size;
    if (taken < fullWindow / 2) return;
    incoming.window += taken;
    insideClient(this.#client)._protocol.channelWindowAdjust(outgoing.id, taken);
  }

  #end(how: Ended): void {
    if (this.#over) return;
    this.#over = true;
    this.#packets.flush();
    this.#stdout.end();
    this.#stderr.end();
    this.#arrivals.end();
    this.#ended.resolve(how);
    for (const reject of this.#writers) reject(exited());
    this.#writers.clear();
  }
}

function howItEnded(code: number | null | undefined, signal: string | undefined, whyLost: string | undefined): Ended {
  if (typeof code === 'number') return { by: 'exit', code };
  if (signal !== undefined) return { by: 'signal', signal: plainSignal(signal.replace(/^SIG/, '')) };
  return { by: 'lost', reason: whyLost ?? 'The channel was closed before the command reported its end.' };
}

/** The server chooses the name, and it is told as a fact of ours. */
const plainSignal = (name: string): string => (/^[A-Z0-9]{1,16}$/.test(name) ? name : 'UNKNOWN');

const exited = (): FairleadError => new FairleadError('terminal_exited', 'The far side has ended.');
