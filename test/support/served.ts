import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport, type VersionNegotiationMode } from '@modelcontextprotocol/client';
import { vi } from 'vitest';

export const program = join(import.meta.dirname, '..', '..', 'bin', 'fairlead.js');

/** The built `fairlead serve` with a home of its own. Leaving the scope ends it, its terminals, and the folder. */
export class Served implements AsyncDisposable {
  readonly home: string;
  readonly #args: readonly string[];
  readonly #env: Readonly<Record<string, string>>;
  #child: ChildProcess | undefined;
  out = '';
  err = '';

  private constructor(home: string, args: readonly string[], env: Readonly<Record<string, string>>) {
    this.home = home;
    this.#args = args;
    this.#env = env;
  }

  static async start(args: readonly string[] = ['--port', '0'], env: Record<string, string> = {}): Promise<Served> {
    const served = new Served(await mkdtemp(join(tmpdir(), 'fl-serve-')), args, env);
    try {
      await served.restart();
    } catch (error) {
      await served[Symbol.asyncDispose]();
      throw error;
    }
    return served;
  }

  get child(): ChildProcess {
    if (!this.#child) throw new Error('It was never started.');
    return this.#child;
  }

  /** In the same home. */
  async restart(): Promise<void> {
    this.out = '';
    this.err = '';
    const child = this.#run(['serve', ...this.#args]);
    this.#child = child;
    child.stdout?.on('data', (chunk: Buffer) => {
      this.out += chunk.toString();
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      this.err += chunk.toString();
    });
    let over = false;
    child.once('close', () => (over = true));
    const isReady = (): boolean => over || this.out.includes('Ctrl+C ends the server');
    await vi.waitUntil(isReady, { timeout: 50_000, interval: 20 });
    if (over) throw new Error(`The server does not start: ${this.err}`);
  }

  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.child.kill(signal);
    await once(this.child, 'exit');
  }

  /** What `fairlead serve --end` says. */
  async endTerminals(): Promise<string> {
    return await this.fairlead(['serve', '--end']);
  }

  /** What a command says, beside the server. */
  async fairlead(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
    const child = this.#run(args, env);
    let said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        said += chunk.toString();
      });
    }
    await once(child, 'close');
    return said;
  }

  get url(): string {
    return /address +(\S+)/.exec(this.out)?.[1] ?? '';
  }

  get token(): string {
    const file = /auth_token in (\S+)/.exec(this.out)?.[1];
    if (file === undefined) return '';
    return (JSON.parse(readFileSync(file, 'utf8')) as { auth_token: string }).auth_token;
  }

  async connect(token = this.token, mode: VersionNegotiationMode = 'legacy'): Promise<Client> {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    await client.connect(
      new StreamableHTTPClientTransport(new URL(this.url), {
        requestInit: { headers: { Authorization: `Bearer ${token}` } },
      }),
    );
    return client;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child) await this.end();
    await this.endTerminals();
    await rm(this.home, { recursive: true, force: true, maxRetries: 5 });
  }

  #run(args: readonly string[], more: Readonly<Record<string, string>> = {}): ChildProcess {
    const env = { PATH: process.env['PATH'] ?? '', HOME: this.home, SHELL: '/bin/bash', ...this.#env, ...more };
    return spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  }
}
