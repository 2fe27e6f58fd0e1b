import type { Channel } from '../../../engine/terminal/channel.ts';
import type { SshProcess } from '../link/link.ts';

/** What a key press sends to the group in the foreground, which a signal request of SSH cannot reach. */
const keys: Readonly<Record<string, number>> = { INT: 0x03, QUIT: 0x1c };

/** A process of an SSH link as a channel of the engine. With a terminal, Ctrl-C reaches what is in the foreground. */
export function channelOf(process: SshProcess, options: { readonly pty: boolean }): Channel {
  // Nobody would read it, and what nobody reads holds up the rest.
  process.stderr[Symbol.asyncIterator]()
    .return?.()
    .catch(() => {});
  return {
    output: process.stdout,
    ended: process.ended,
    write: (bytes) => process.write(bytes),
    ...(options.pty && {
      resize: async (size) => process.resize(size),
    }),
    kill: async (signal) => {
      const key = options.pty ? keys[signal] : undefined;
      if (key === undefined) return process.signal(signal);
      await process.write(Uint8Array.of(key)).catch(() => {});
    },
    [Symbol.asyncDispose]: () => process[Symbol.asyncDispose](),
  };
}
