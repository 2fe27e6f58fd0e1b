import type { Channel } from '../../../engine/terminal/channel.ts';
import type { ByteSource } from '../../../lib/byte-queue.ts';
import type { SshProcess } from '../link/link.ts';

/** What runs where the server chooses the program. */
export const loginShell = 'login shell';

/** What a key press sends to the group in the foreground, which a signal request of SSH cannot reach. */
const keys: Readonly<Record<string, number>> = { INT: 0x03, QUIT: 0x1c };

interface ChannelShape {
  readonly pty: boolean;
  /** Where the output of the process is read, if a handshake took the first of it. */
  readonly output?: ByteSource;
}

/** A process of an SSH link as a channel of the engine. With a terminal, Ctrl-C reaches what is in the foreground. */
export function channelOf(process: SshProcess, { pty, output = process.stdout }: ChannelShape): Channel {
  // An unread stream would fill the window that both streams share.
  leave(process.stderr);
  return {
    output,
    ended: process.ended,
    write: (bytes) => process.write(bytes),
    ...(pty && { resize: async (size) => process.resize(size) }),
    kill: async (signal) => {
      const key = pty ? keys[signal] : undefined;
      if (key === undefined) return process.signal(signal);
      await process.write(Uint8Array.of(key)).catch(() => {});
    },
    [Symbol.asyncDispose]: () => process[Symbol.asyncDispose](),
  };
}

/** Drops what comes on a stream that has no reader. */
export function leave(stream: ByteSource): void {
  stream[Symbol.asyncIterator]()
    .return?.()
    .catch(() => {});
}
