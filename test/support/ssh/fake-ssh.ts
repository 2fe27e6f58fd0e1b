import { remoteError } from '../../../src/contract/remote-errors.ts';
import type { Ended } from '../../../src/engine/terminal/channel.ts';
import { ByteQueue, type ByteSource } from '../../../src/lib/byte-queue.ts';
import { deferred } from '../../../src/lib/deferred.ts';
import type { Connected } from '../../../src/transports/ssh/sessions/connect.ts';
import type { LinkEnd, SshLink, SshProcess } from '../../../src/transports/ssh/link/link.ts';

/** A command at the far side of a fake link; the test ends it. */
export class FakeProcess implements SshProcess {
  readonly command: string;
  readonly #ended = deferred<Ended>();
  readonly #onEnd: () => void;
  over = false;

  constructor(command: string, onEnd: () => void) {
    this.command = command;
    this.#onEnd = onEnd;
  }

  readonly output = nothing();
  readonly stdout = ended();
  readonly stderr = ended();

  get ended(): Promise<Ended> {
    return this.#ended.promise;
  }

  finish(how: Ended = { by: 'exit', code: 0 }): void {
    if (this.over) return;
    this.over = true;
    this.#onEnd();
    this.#ended.resolve(how);
  }

  write = (): Promise<void> => Promise.resolve();
  end(): void {}
  signal(): void {}
  resize(): void {}

  async [Symbol.asyncDispose](): Promise<void> {
    this.finish({ by: 'lost', reason: 'closed' });
  }
}

async function* nothing(): AsyncGenerator<never, void> {}

function ended(): ByteSource {
  const source = new ByteQueue(1);
  source.end();
  return source;
}

/** A server with so many channels, played by hand: slots, queues and reuse are about counting, not about bytes. */
export class FakeLink implements SshLink {
  /** How many channels the server gives. */
  max: number;
  /** What each open says instead of a channel. */
  refuse: 'request' | undefined;
  /** Opens and pings stay unanswered. */
  silent = false;
  /** No command ends by itself. */
  stuck = false;
  /** Every command ends at once. */
  quick = false;
  readonly running: FakeProcess[] = [];
  /** Commands in the order in which the server got them, refused ones with a `!`. */
  readonly seen: string[] = [];
  end: LinkEnd | undefined;
  readonly #ended = deferred<LinkEnd>();

  constructor(max = 10) {
    this.max = max;
  }

  get ended(): Promise<LinkEnd> {
    return this.#ended.promise;
  }

  exec(command: string, _options: unknown, signal: AbortSignal): Promise<SshProcess> {
    return this.#open(command, signal);
  }

  shell(_pty: unknown, _options: unknown, signal: AbortSignal): Promise<SshProcess> {
    return this.#open('shell', signal);
  }

  finishAll(how?: Ended): void {
    while (this.running[0]) this.running[0].finish(how);
  }

  async ping(signal: AbortSignal): Promise<void> {
    if (this.silent) await aborted(signal);
  }

  lose(reason = 'The connection broke.'): void {
    this.#finish({ by: 'lost', reason });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#finish({ by: 'us' });
  }

  async #open(command: string, signal: AbortSignal): Promise<SshProcess> {
    await Promise.resolve();
    if (this.silent) await aborted(signal);
    if (this.refuse !== undefined || this.running.length >= this.max) {
      this.seen.push(`!${command}`);
      throw remoteError('CHANNEL_FAILED', 'The server refused the channel.', {
        data: { refused: this.refuse ?? 'slots' },
      });
    }
    this.seen.push(command);
    const process = new FakeProcess(command, () => this.running.splice(this.running.indexOf(process), 1));
    this.running.push(process);
    if (this.quick || (command === 'echo 1' && !this.stuck)) process.finish();
    return process;
  }

  #finish(end: LinkEnd): void {
    if (this.end !== undefined) return;
    this.end = end;
    this.#ended.resolve(end);
    this.finishAll({ by: 'lost', reason: 'link' });
  }
}

async function aborted(signal: AbortSignal): Promise<never> {
  return await new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}

export const connected = (link: SshLink, more: Partial<Connected> = {}): Connected => ({
  link,
  host: 'box',
  port: 22,
  username: 'alice',
  retries: 0,
  compression: false,
  hostKey: { fingerprint: 'SHA256:fake', state: 'known' },
  warnings: [],
  ...more,
});

/** Lets everything that waits for nothing but other promises happen. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
