import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import {
  type Frame,
  FrameReader,
  type FrameType,
  frame,
  frameTypes,
} from '../../../src/transports/local/keeper/frames.ts';
import { encode } from '../../../src/transports/resumable/messages.ts';

/** A client that does only what a test tells it to. */
export class RawClient implements Disposable {
  readonly socket: Socket;
  readonly frames: Frame[] = [];
  readonly closed: Promise<unknown>;

  private constructor(socket: Socket) {
    this.socket = socket;
    const reader = new FrameReader();
    socket.on('data', (chunk: Buffer) => this.frames.push(...reader.push(chunk)));
    socket.on('error', () => {});
    this.closed = new Promise((resolve) => {
      socket.once('close', resolve);
    });
  }

  static async connect(path: string): Promise<RawClient> {
    const socket = connect({ path });
    await once(socket, 'connect');
    return new RawClient(socket);
  }

  say(type: FrameType, id = '', body?: object | Uint8Array, offset?: number): void {
    this.socket.write(frame(type, id, body instanceof Uint8Array || !body ? body : encode(body), offset));
  }

  hello(pid: number, version = 1): void {
    this.say('hello', '', { version, pid, direct: true });
  }

  got(type: FrameType): Frame | undefined {
    return this.frames.find((one) => one.type === frameTypes[type]);
  }

  async until(type: FrameType): Promise<Frame> {
    for (;;) {
      const found = this.got(type);
      if (found) return found;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }
}
