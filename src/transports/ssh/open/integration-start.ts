import { FairleadError } from '../../../contract/errors.ts';
import { deferred } from '../../../lib/deferred.ts';
import { type RemoteLaunch, launchBytes } from './integration.ts';
import { stdoutOnly } from '../link/arrivals.ts';
import type { SshProcess } from '../link/link.ts';

/** A far side that has not answered by then is no POSIX machine, or is asked something else first. */
const answerMs = 10_000;
/** More than this before the answer is no noise of start-up files. */
const mostNoise = 256 << 10;

export type HandshakeResult =
  /** What was asked for runs. Its output begins after our own words. */
  | { readonly as: 'asked'; readonly marked: boolean; readonly process: SshProcess; readonly loginShell: string }
  /**
   * Something else has the terminal: a forced command, a menu, a question for a code. It is left alone, and nothing it said
   * is lost. If it lets our command run after all, that becomes a plain login.
   */
  | { readonly as: 'other'; readonly process: SshProcess }
  /** Nothing came of it: the far side cannot run commands like ours. */
  | { readonly as: 'nothing' };

/**
 * Hands the script over to a process that runs `firstCommand`, and waits until what was asked for is about to run. Rejects
 * with `invalid_input` when there is no such folder, shell or program. Owns the process unless it is handed back.
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
    process: after(process, output.rest()),
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
    return { as: 'other', process: after(process, output.whole(decline)) };
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

/** The same process, with this for its output. */
function after(process: SshProcess, stdout: AsyncIterable<Uint8Array>): SshProcess {
  return {
    output: stdoutOnly(stdout),
    stdout,
    stderr: process.stderr,
    ended: process.ended,
    write: (bytes) => process.write(bytes),
    end: () => process.end(),
    signal: (name) => process.signal(name),
    resize: (size) => process.resize(size),
    [Symbol.asyncDispose]: () => process[Symbol.asyncDispose](),
  };
}

/** The first output of a process: what our script says, word by word, and then everything after it. */
class Opening {
  readonly #output: AsyncIterator<Uint8Array>;
  readonly #prefix: string;
  #next: Promise<IteratorResult<Uint8Array>> | undefined;
  #seen: Buffer = Buffer.alloc(0);
  /** Where the newest word ended. */
  #at = 0;
  #over = false;

  constructor(output: AsyncIterable<Uint8Array>, token: string) {
    this.#output = output[Symbol.asyncIterator]();
    this.#prefix = `\x1b]7461;${token};`;
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
        this.#next ??= this.#output.next();
        const chunk = await Promise.race([this.#next, stopped.promise]);
        if (chunk === 'late') return undefined;
        this.#next = undefined;
        if (chunk.done === true) this.#over = true;
        else this.#seen = Buffer.concat([this.#seen, chunk.value]);
      }
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    }
  }

  #find(): string | undefined {
    const from = this.#seen.indexOf(this.#prefix, this.#at);
    const to = from === -1 ? -1 : this.#seen.indexOf(7, from);
    if (to === -1) return undefined;
    this.#at = to + 1;
    return this.#seen.toString('utf8', from + this.#prefix.length, to);
  }

  /** What came after the newest word, and all that follows. */
  async *rest(): AsyncGenerator<Uint8Array> {
    yield* this.#from(this.#at);
  }

  /** Everything from the first byte on. Calls back when our command asks for its script after all. */
  async *whole(asked: () => void): AsyncGenerator<Uint8Array> {
    const wanted = Buffer.from(`${this.#prefix}go;`);
    let tail: Buffer = Buffer.alloc(0);
    for await (const chunk of this.#from(0)) {
      yield chunk;
      const text = Buffer.concat([tail, chunk]);
      if (text.includes(wanted)) asked();
      tail = text.subarray(Math.max(0, text.length - wanted.length + 1));
    }
  }

  async *#from(at: number): AsyncGenerator<Uint8Array> {
    try {
      const kept = this.#seen.subarray(at);
      this.#seen = Buffer.alloc(0);
      if (kept.length > 0) yield kept;
      for (
        let chunk = await (this.#next ?? this.#output.next());
        chunk.done !== true;
        chunk = await this.#output.next()
      )
        yield chunk.value;
    } finally {
      this.leave();
    }
  }

  /** Nobody reads any further; what comes is thrown away, so that nothing waits for a reader. */
  leave(): void {
    this.#output.return?.().catch(() => {});
  }
}
