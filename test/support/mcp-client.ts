import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { deferred } from '../../src/lib/deferred.ts';

const program = join(import.meta.dirname, '..', '..', 'bin', 'fairlead.js');

interface Content {
  readonly type: string;
  readonly text?: string;
  readonly data?: string;
  readonly mimeType?: string;
}

export interface ToolResult {
  readonly content: readonly Content[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly isError?: boolean;
}

export interface Message {
  readonly id?: number;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string };
}

export interface McpOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly protocol?: string;
  /** What has to be in its home before it starts. */
  readonly prepare?: (home: string) => Promise<unknown>;
}

/** The built program on real pipes, with a home of its own. Leaving the scope ends it and removes the folder. */
export class Mcp implements AsyncDisposable {
  readonly home: string;
  readonly child: ChildProcessWithoutNullStreams;
  /** Every line of stdout, as it came. */
  readonly lines: string[] = [];
  stderr = '';
  /** It has ended, and all it wrote has been read. */
  readonly #closed: Promise<unknown>;
  /** Rejects when a line was no message, or not all of one. */
  readonly #broken = deferred<never>();
  readonly #waiting = new Map<number, (message: Message) => void>();
  #nextId = 1;

  private constructor(home: string, child: ChildProcessWithoutNullStreams) {
    this.home = home;
    this.child = child;
    this.#closed = once(child, 'close');
    createInterface({ input: child.stdout, crlfDelay: Number.POSITIVE_INFINITY }).on('line', (line) => {
      this.lines.push(line);
      try {
        const message = JSON.parse(line) as Message;
        if (message.id !== undefined) this.#waiting.get(message.id)?.(message);
      } catch (cause) {
        this.#broken.reject(new Error(`This is no message: ${line.slice(0, 200)}`, { cause }));
      }
    });
    child.stderr.on('data', (chunk: Buffer) => {
      this.stderr += chunk.toString();
    });
    // A server that ended does not read: that is what some tests are about.
    child.stdin.on('error', () => {});
  }

  static async start(options: McpOptions = {}): Promise<Mcp> {
    const mcp = await Mcp.raw(options);
    await mcp.request('initialize', {
      protocolVersion: options.protocol ?? '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    });
    mcp.notify('notifications/initialized');
    return mcp;
  }

  /** Without a handshake. */
  static async raw({ args = [], env = {}, prepare }: McpOptions = {}): Promise<Mcp> {
    const home = await mkdtemp(join(tmpdir(), 'fairlead-mcp-'));
    await prepare?.(home);
    const child = spawn(process.execPath, [program, 'mcp', '--headless', ...args], {
      cwd: home,
      env: {
        PATH: process.env['PATH'] ?? '/usr/bin:/bin',
        HOME: home,
        LANG: 'C.UTF-8',
        SHELL: '/bin/bash',
        FAIRLEAD_HOME: join(home, '.fairlead'),
        PS1: '$ ',
        ...env,
      },
    });
    return new Mcp(home, child);
  }

  send(message: unknown): void {
    this.child.stdin.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`);
  }

  notify(method: string, params?: unknown): void {
    this.send({ jsonrpc: '2.0', method, params });
  }

  async request(method: string, params?: unknown): Promise<Message> {
    const id = this.#nextId++;
    const answer = new Promise<Message>((resolve) => {
      this.#waiting.set(id, resolve);
    });
    this.send({ jsonrpc: '2.0', id, method, params });
    return Promise.race([
      answer,
      this.#broken.promise,
      this.#closed.then(() => {
        throw new Error(`The server ended before it answered ${method}. ${this.stderr}`);
      }),
    ]);
  }

  async call(name: string, input?: unknown): Promise<ToolResult> {
    const { result, error } = await this.request('tools/call', {
      name,
      ...(input === undefined ? {} : { arguments: input }),
    });
    if (error) throw new Error(`${name}: ${error.message}`);
    return result as unknown as ToolResult;
  }

  /** The first text of an answer. */
  async text(name: string, input?: unknown): Promise<string> {
    const { content } = await this.call(name, input);
    return content.find((part) => part.type === 'text')?.text ?? '';
  }

  /** The structured part of an answer that must not be an error. */
  async facts<T = Record<string, unknown>>(name: string, input?: unknown): Promise<T> {
    const result = await this.call(name, input);
    if (result.isError) throw new Error(`${name}: ${result.content[0]?.text}`);
    return result.structuredContent as T;
  }

  /** Types a line, presses Enter, reads the output of that command when the shell is back, however long that takes. */
  async run(
    command: string,
    input: { readonly sessionId?: string | number | undefined } = {},
  ): Promise<{ content: string; exitCode: number | null }> {
    await this.call('type', { text: command, submit: true, ...input });
    await this.prompt(input);
    return this.facts('getContent', { lastCommand: true, ...input });
  }

  /** Waits for the prompt after the newest input. What the terminal tools read by themselves waits only for a pause. */
  async prompt({ sessionId }: { readonly sessionId?: string | number | undefined } = {}): Promise<void> {
    const { hit, screen } = await this.facts('terminal_wait', { terminal: sessionId, prompt: true, timeoutMs: 50_000 });
    if (hit !== 'prompt') throw new Error(`There is no prompt. The screen:\n${String(screen)}`);
  }

  /** Closes stdin and waits for the end. */
  async end(): Promise<{ code: number | null; ms: number }> {
    const started = performance.now();
    const exit =
      this.child.exitCode === null && this.child.signalCode === null ? once(this.child, 'exit') : Promise.resolve();
    this.child.stdin.end();
    await exit;
    return { code: this.child.exitCode, ms: performance.now() - started };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
    await rm(this.home, { recursive: true, force: true, maxRetries: 5 });
  }
}
