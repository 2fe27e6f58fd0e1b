import type { Ended } from '../../src/engine/terminal/channel.ts';
import { ByteQueue } from '../../src/lib/byte-queue.ts';
import { deferred } from '../../src/lib/deferred.ts';
import { Arrivals } from '../../src/transports/ssh/link/arrivals.ts';
import type { SshProcess, StreamName } from '../../src/transports/ssh/link/link.ts';
import type { ChildKind, SessionChild, SshSession } from '../../src/transports/ssh/sessions/session.ts';

/** A command whose every byte and end the test decides; what is done to it is written down. */
export class FakeCommand implements SshProcess {
  readonly #queues = { stdout: new ByteQueue(1 << 20), stderr: new ByteQueue(1 << 20) };
  readonly #arrivals = new Arrivals(this.#queues.stdout, this.#queues.stderr);
  readonly #ended = deferred<Ended>();
  readonly done: string[] = [];
  /** What it does when its channel is closed; undefined: the server never confirms. */
  closesWith: Ended | undefined = { by: 'lost', reason: 'The channel was closed.' };

  get output() {
    return this.#arrivals;
  }

  get stdout() {
    return this.#queues.stdout;
  }

  get stderr() {
    return this.#queues.stderr;
  }

  get ended(): Promise<Ended> {
    return this.#ended.promise;
  }

  print(text: string, stream: StreamName = 'stdout'): void {
    this.#queues[stream].push(Buffer.from(text));
    this.#arrivals.came(stream);
  }

  finish(how: Ended = { by: 'exit', code: 0 }): void {
    this.#queues.stdout.end();
    this.#queues.stderr.end();
    this.#arrivals.end();
    this.#ended.resolve(how);
  }

  write = async (bytes: Uint8Array): Promise<void> =>
    void this.done.push(`write ${Buffer.from(bytes).toString('hex')}`);
  end = (): void => void this.done.push('eof');
  signal = (name: string): void => void this.done.push(name);
  resize = (): void => {};

  async [Symbol.asyncDispose](): Promise<void> {
    this.done.push('close');
    if (this.closesWith) this.finish(this.closesWith);
    await this.ended;
  }
}

/** A session that starts what the test hands it. */
export class FakeSession {
  readonly children = new Set<SessionChild>();
  readonly id: string;
  readonly principal: string;
  next: () => Promise<SshProcess> = () => Promise.reject(new Error('nothing to start'));

  constructor(id = 's1', principal = 'me') {
    this.id = id;
    this.principal = principal;
  }

  readonly agentId = undefined;
  exec = (): Promise<SshProcess> => this.next();
  touch = (): void => {};

  adopt(child: SessionChild): Disposable {
    this.children.add(child);
    return { [Symbol.dispose]: () => void this.children.delete(child) };
  }

  count(kind: ChildKind): number {
    return [...this.children].filter((child) => child.kind === kind).length;
  }

  get session(): SshSession {
    return this as unknown as SshSession;
  }
}
