import { FairleadError } from '../../../contract/errors.ts';
import { ByteQueue, type ByteSource } from '../../../lib/byte-queue.ts';
import { deferred } from '../../../lib/deferred.ts';
import { type RemoteLaunch, launchBytes } from './integration.ts';
import { leave } from './channel-of.ts';
import type { SshProcess } from '../link/link.ts';

/** A far side that has not answered by then is no POSIX machine, or is asked something else first. */
const answerMs = 10_000;
/** More than this before the answer is no noise of start-up files. */
const mostNoise = 256 << 10;

export type HandshakeResult =
  /** What was asked for runs. Its output begins after our own words. */
  | { readonly as: 'asked'; readonly marked: boolean; readonly output: ByteSource; readonly loginShell: string }
  /**
   * Something else has the terminal: a forced command, a menu, a question for a code. It is left alone, and nothing it said
   * is lost. If it lets our command run after all, that becomes a plain login.
   */
  | { readonly as: 'other'; readonly output: ByteSource }
  /** Nothing came of it: the far side cannot run commands like ours. */
  | { readonly as: 'nothing' };

/**
 * Hands the script over to a process that runs `firstCommand`, and waits until what was asked for is about to run. Rejects
 * with `invalid_input` when there is no such folder, shell or program. Ends the process unless it answers with its output.
 */
export async function begin(
  process: SshProcess,
  launch: RemoteLaunch,
  signal: AbortSignal,
  patienceMs: number = answerMs,
): Promise<HandshakeResult> {
  const output = new Opening(process.stdout, launch.token);
  const asked = (loginShell: string, marked = false): HandshakeResult => ({
    as: 'asked',
    marked,
    output: output.rest(),
    loginShell,
  });
  try {
    const first = await output.word(patienceMs, signal);
    if (first === undefined) return await silent(process, output);
    if (first === 'no') return asked('');
    const loginShell = first.replace(/^go;/, '');
    // A far side that is gone by now is noticed by its silence.
    process.write(launchBytes(launch, loginShell)).catch(() => {});
    const second = await output.word(answerMs, signal);
    const [, kind = ''] = /^ready;(\w+)$/.exec(second ?? '') ?? [];
    if (kind !== '' || second === 'no') return asked(loginShell, kind !== '' && kind !== 'plain');
    const missing = /^fail;(\w+)$/.exec(second ?? '')?.[1];
    if (missing !== undefined) throw notThere(missing, launch);
    await dispose(process, output);
    return { as: 'nothing' };
  } catch (error) {
    await dispose(process, output);
    throw error;
  }
}

/** An empty script: what waits for one goes on without. */
const nothing = Buffer.from('0\n');

async function silent(process: SshProcess, output: Opening): Promise<HandshakeResult> {
  if (!output.over) {
    const decline = (): void => void process.write(nothing).catch(() => {});
    return { as: 'other', output: output.whole(decline) };
  }
  await dispose(process, output);
  return { as: 'nothing' };
}

async function dispose(process: SshProcess, output: Opening): Promise<void> {
  output.leave();
  await process[Symbol.asyncDispose]();
}

function notThere(missing: string, { cwd, shell, argv }: RemoteLaunch): FairleadError {
  if (missing === 'cwd') {
    return new FairleadError('invalid_input', `The far side has no folder ${cwd}.`, {
      hint: 'Name an existing directory of that host as cwd.',
    });
  }
  return new FairleadError('invalid_input', `The far side has no program ${argv?.[0] ?? shell ?? 'for this login'}.`, {
    hint: 'Check the spelling and PATH at that host, or give the full path.',
  });
}

/** The first output of a process: what our script says, word by word, and then everything after it. */
class Opening {
  readonly #prefix: string;
  #seen: Buffer = Buffer.alloc(0);
  /** Where the newest word ended. */
  #at = 0;
  #over = false;
  #news = deferred<'news'>();
  /** Where output goes after the handshake. */
  #rest: ByteQueue | undefined;
  #room = deferred();
  #watch: ((chunk: Uint8Array) => void) | undefined;

  constructor(output: ByteSource, token: string) {
    this.#prefix = `\x1b]7461;${token};`;
    const end = (): void => this.#end();
    output.consume((chunk) => this.#take(chunk)).then(end, end);
  }

  /** No more will come. */
  get over(): boolean {
    return this.#over;
  }

  /** The next word; undefined when the output is over, too much of something else, or silent for too long. */
  async word(limitMs: number, signal: AbortSignal): Promise<string | undefined> {
    const stopped = deferred<'late'>();
    const timer = setTimeout(() => stopped.resolve('late'), limitMs);
    const abort = (): void => stopped.reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    try {
      signal.throwIfAborted();
      for (let found = this.#find(); ; found = this.#find()) {
        if (found !== undefined || this.#over || this.#seen.length > mostNoise) return found;
        if ((await Promise.race([this.#news.promise, stopped.promise])) === 'late') return undefined;
      }
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    }
  }

  /** What came after the newest word, and all that follows. */
  rest(): ByteSource {
    return this.#from(this.#at);
  }

  /** Everything from the first byte on. Calls back when our command asks for its script after all. */
  whole(asked: () => void): ByteSource {
    const wanted = Buffer.from(`${this.#prefix}go;`);
    let tail: Buffer = Buffer.alloc(0);
    this.#watch = (chunk) => {
      const text = Buffer.concat([tail, chunk]);
      if (text.includes(wanted)) asked();
      tail = text.subarray(Math.max(0, text.length - wanted.length + 1));
    };
    return this.#from(0);
  }

  /** Drops what comes from now on, so that the far side never waits for a reader. */
  leave(): void {
    leave(this.#from(this.#seen.length));
  }

  #find(): string | undefined {
    const from = this.#seen.indexOf(this.#prefix, this.#at);
    const to = from === -1 ? -1 : this.#seen.indexOf(7, from);
    if (to === -1) return undefined;
    this.#at = to + 1;
    return this.#seen.toString('utf8', from + this.#prefix.length, to);
  }

  #from(at: number): ByteSource {
    const rest = new ByteQueue(1, () => {
      this.#room.resolve();
      this.#room = deferred();
    });
    this.#rest = rest;
    this.#hand(rest, this.#seen.subarray(at));
    this.#seen = Buffer.alloc(0);
    if (this.#over) rest.end();
    return rest;
  }

  #take(chunk: Uint8Array): Promise<void> | undefined {
    const room = this.#room.promise;
    if (this.#rest !== undefined) return this.#hand(this.#rest, chunk) ? undefined : room;
    this.#seen = Buffer.concat([this.#seen, chunk]);
    this.#tell();
    return undefined;
  }

  #hand(rest: ByteQueue, chunk: Uint8Array): boolean {
    const fits = rest.push(chunk);
    this.#watch?.(chunk);
    return fits;
  }

  #end(): void {
    this.#over = true;
    this.#rest?.end();
    this.#tell();
  }

  #tell(): void {
    this.#news.resolve('news');
    this.#news = deferred();
  }
}
