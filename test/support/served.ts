import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport, type VersionNegotiationMode } from '@modelcontextprotocol/client';
import { vi } from 'vitest';

export const program = join(import.meta.dirname, '..', '..', 'bin', 'fairlead.js');

/** The built program as an HTTP server, with a home of its own. Leaving the scope ends it and removes the folder. */
export class Served implements AsyncDisposable {
  readonly home: string;
  readonly child: ChildProcess;
  out = '';
  err = '';

  private constructor(home: string, child: ChildProcess) {
    this.home = home;
    this.child = child;
    child.stdout?.on('data', (chunk: Buffer) => {
      this.out += chunk.toString();
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      this.err += chunk.toString();
    });
  }

  static async start(args: readonly string[] = ['--port', '0'], env: Record<string, string> = {}): Promise<Served> {
    const home = await mkdtemp(join(tmpdir(), 'fairlead-serve-'));
    const child = spawn(process.execPath, [program, 'serve', ...args], {
      env: { PATH: process.env['PATH'] ?? '', HOME: home, SHELL: '/bin/bash', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const served = new Served(home, child);
    try {
      await vi.waitUntil(() => served.out.includes('Ctrl+C ends the server'), { timeout: 15_000, interval: 20 });
    } catch {
      await served[Symbol.asyncDispose]();
      throw new Error(`The server does not start: ${served.err}`);
    }
    return served;
  }

  get url(): string {
    return /address +(\S+)/.exec(this.out)?.[1] ?? '';
  }

  get token(): string {
    return /token +(\S+)/.exec(this.out)?.[1] ?? '';
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
    if (this.child.exitCode === null) {
      this.child.kill('SIGTERM');
      await once(this.child, 'exit');
    }
    await rm(this.home, { recursive: true, force: true });
  }
}
