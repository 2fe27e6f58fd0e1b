import { FairleadError } from '../../../src/contract/errors.ts';
import type { Channel, Ended } from '../../../src/engine/terminal/channel.ts';
import { ByteQueue } from '../../../src/lib/byte-queue.ts';
import { deferred } from '../../../src/lib/deferred.ts';

const prompt = 'switch> ';

/** A switch at the end of a serial line: it echoes what is typed and answers each line. It has no process, no size and no signals. */
export class SerialPort implements Channel {
  readonly output = new ByteQueue(64 << 10);
  readonly #baud: number;
  readonly #end = deferred<Ended>();
  #line = '';
  #open = true;

  constructor(baud: number) {
    this.#baud = baud;
    this.#say(`\r\nboot ok\r\n${prompt}`);
  }

  get ended(): Promise<Ended> {
    return this.#end.promise;
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (!this.#open) throw new FairleadError('terminal_exited', 'The port is closed.');
    for (const key of Buffer.from(bytes).toString('latin1')) {
      if (key === '\r') this.#entered();
      else {
        this.#line += key;
        this.#say(key);
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#open = false;
    this.output.end();
    this.#end.resolve({ by: 'lost', reason: 'The port was closed.' });
  }

  #entered(): void {
    const answer = this.#line === 'show speed' ? `${this.#baud} baud` : `unknown: ${this.#line}`;
    this.#line = '';
    this.#say(`\r\n${answer}\r\n${prompt}`);
  }

  #say(text: string): void {
    this.output.push(Buffer.from(text, 'latin1'));
  }
}
