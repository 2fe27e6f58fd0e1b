import { on } from 'node:events';
import { Socket } from 'node:net';
import { createInterface } from 'node:readline/promises';
import { deferred } from '../../lib/deferred.ts';
import { wipeable, wipeableOf } from '../../system/wipeable.ts';
import { UsageError } from './args.ts';

const longest = 65_536;

/** The person pressed Ctrl-C. */
export class Declined extends Error {
  override readonly name = 'Declined';
}

/** Everything a pipe brings, less the newline at its end. */
export async function readPiped(stdin: NodeJS.ReadStream): Promise<Buffer> {
  const { fd } = stdin as { readonly fd?: number };
  const all = stdin instanceof Socket && fd !== undefined ? await readPipe(fd) : await readChunks(stdin);
  const ends = all.at(-1) === 10 ? (all.at(-2) === 13 ? 2 : 1) : 0;
  return all.subarray(0, all.length - ends);
}

async function readChunks(stdin: NodeJS.ReadStream): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stdin) {
    chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size > longest) throw tooLong();
  }
  return wipeableOf(chunks);
}

/** Reads into our own buffer: Node's would leave copies that are never wiped. */
async function readPipe(fd: number): Promise<Buffer> {
  const piece = wipeable(longest);
  const text = wipeable(longest);
  let size = 0;
  const read = deferred();
  const callback = (length: number): boolean => {
    if (size + length > longest) read.reject(tooLong());
    else text.set(piece.subarray(0, length), size);
    size += length;
    return size <= longest;
  };
  // `onread` is missing in the types of this constructor only.
  const options = { fd, readable: true, writable: false, onread: { buffer: piece, callback } };
  const socket = new Socket(options);
  socket.on('error', read.reject);
  socket.on('end', read.resolve);
  try {
    await read.promise;
    return wipeableOf([text.subarray(0, size)]);
  } finally {
    piece.fill(0);
    text.fill(0);
    socket.destroy();
  }
}

const tooLong = (): UsageError => new UsageError(`Standard input holds more than ${longest} bytes.`);

export async function readLine(stdin: NodeJS.ReadStream, stdout: NodeJS.WriteStream): Promise<string> {
  const lines = createInterface({ input: stdin, output: stdout, historySize: 0 });
  const stop = new AbortController();
  lines.on('SIGINT', () => stop.abort());
  lines.on('close', () => stop.abort());
  try {
    return await lines.question('> ', { signal: stop.signal });
  } catch (cause) {
    throw new Declined('Nothing was answered.', { cause });
  } finally {
    lines.close();
  }
}

/**
 * Reads a line without any echo, not even its length. Echo is off before the question shows. It comes as bytes, for the
 * caller to overwrite.
 */
export async function readHidden(
  stdin: NodeJS.ReadStream,
  stdout: NodeJS.WriteStream,
  question: string,
): Promise<Buffer> {
  stdin.setRawMode(true);
  stdout.write(question);
  const text = wipeable(longest);
  let size = 0;
  try {
    // Pieces of what is pasted may come faster than they are looked at, and end within a character.
    for await (const [chunk] of on(stdin, 'data', { close: ['end'] }) as AsyncIterable<[Buffer]>) {
      for (const [at, byte] of chunk.entries()) {
        chunk[at] = 0;
        if (byte === 13 || byte === 10) return wipeableOf([text.subarray(0, size)]);
        if (byte === 3 || byte === 4) throw new Declined('Nothing was answered.');
        if (byte === 0x7f || byte === 8) size = lastCharacter(text, size);
        else if (byte === 0x15) size = 0;
        else if (size < longest) text[size++] = byte;
      }
    }
    throw new Declined('Nothing was answered.');
  } finally {
    text.fill(0);
    stdin.setRawMode(false);
    stdin.pause();
    stdout.write('\n');
  }
}

/** Where the last character of UTF-8 text begins. */
function lastCharacter(text: Buffer, size: number): number {
  let at = Math.max(0, size - 1);
  while (at > 0 && ((text[at] ?? 0) & 0xc0) === 0x80) at -= 1;
  return at;
}
