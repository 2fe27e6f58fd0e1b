import { on } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { UsageError } from './args.ts';

const longest = 65_536;

/** The person pressed Ctrl-C. */
export class Declined extends Error {
  override readonly name = 'Declined';
}

/** Everything a pipe brings, less the newline at its end. */
export async function readPiped(stdin: NodeJS.ReadStream): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stdin) {
    chunks.push(Buffer.from(chunk as Buffer));
    size += (chunk as Buffer).length;
    if (size > longest) throw new UsageError(`Standard input holds more than ${longest} bytes.`);
  }
  return Buffer.concat(chunks)
    .toString()
    .replace(/\r?\n$/, '');
}

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

/** A line of which nothing is shown, not even how long it is. Whoever sees the question can type unseen already. */
export async function readHidden(
  stdin: NodeJS.ReadStream,
  stdout: NodeJS.WriteStream,
  question: string,
): Promise<string> {
  stdin.setRawMode(true);
  stdout.write(question);
  // Pieces of what is pasted may come faster than they are looked at, and end within a character.
  const decoder = new TextDecoder();
  try {
    let text = '';
    for await (const [chunk] of on(stdin, 'data', { close: ['end'] }) as AsyncIterable<[Buffer]>) {
      for (const char of decoder.decode(chunk, { stream: true })) {
        if (char === '\r' || char === '\n') return text;
        if (char === '\x03' || char === '\x04') throw new Declined('Nothing was answered.');
        if (char === '\x7f' || char === '\b') text = [...text].slice(0, -1).join('');
        else if (char === '\x15') text = '';
        else if (text.length < longest) text += char;
      }
    }
    throw new Declined('Nothing was answered.');
  } finally {
    stdin.setRawMode(false);
    stdin.pause();
    stdout.write('\n');
  }
}
