import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Browser, chromium } from 'playwright-core';
import { contents, filesBelow } from './files-below.ts';

const root = join(import.meta.dirname, '..', '..');

export interface Line {
  readonly id?: number | string;
  readonly method?: string;
  // A wire test reads whatever came.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly params?: any;
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly result?: any;
  readonly error?: { readonly code: number; readonly message: string };
}

/** A server on real pipes, with a home of its own: one whose `vault_unlock` needs a password, or the product as it is. */
export class AskingServer implements AsyncDisposable {
  readonly home: string;
  readonly child: ChildProcessWithoutNullStreams;
  readonly raw: string[] = [];
  readonly lines: Line[] = [];
  stderr = '';
  readonly #look = new Set<() => void>();
  readonly #exited: Promise<unknown>;
  /** It has ended, and all it wrote has been read. */
  readonly #closed: Promise<unknown>;

  private constructor(home: string, child: ChildProcessWithoutNullStreams) {
    this.home = home;
    this.child = child;
    this.#exited = once(child, 'exit');
    this.#closed = once(child, 'close');
    const look = (): void => this.#look.forEach((one) => one());
    createInterface({ input: child.stdout }).on('line', (line) => {
      this.raw.push(line);
      this.lines.push(JSON.parse(line) as Line);
      look();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      this.stderr += chunk.toString();
      look();
    });
    child.stdin.on('error', () => {});
  }

  static async start(what: 'vault' | 'product' = 'vault'): Promise<AskingServer> {
    const home = await mkdtemp(join(tmpdir(), 'fairlead-asking-'));
    const env = { PATH: process.env['PATH'] ?? '', HOME: home, FAIRLEAD_HOME: join(home, '.fairlead'), PS1: '$ ' };
    const program =
      what === 'vault'
        ? [join(root, 'test', 'fixtures', 'asking-server.mjs')]
        : [join(root, 'bin', 'fairlead.js'), 'mcp', '--record', '--record-dir', home];
    const child = spawn(process.execPath, program, { cwd: home, env });
    const server = new AskingServer(home, child);
    if (what === 'vault') await server.until(() => server.stderr.includes('http '));
    return server;
  }

  /** Says hello as a client of 2025. */
  async initialize(capabilities: object, protocolVersion = '2025-11-25'): Promise<void> {
    const clientInfo = { name: 'tester', version: '1' };
    this.send({ id: 'hello', method: 'initialize', params: { protocolVersion, capabilities, clientInfo } });
    await this.answer('hello');
    this.send({ method: 'notifications/initialized' });
  }

  send(message: object): void {
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  unlock(id: string, input: object, params: object = {}): void {
    this.call(id, 'vault_unlock', input, params);
  }

  call(id: string, name: string, input: object, params: object = {}): void {
    this.send({ id, method: 'tools/call', params: { name, arguments: input, ...params } });
  }

  async answer(id: string): Promise<Line> {
    return await this.find((line) => line.id === id && line.method === undefined);
  }

  async find(fits: (line: Line) => boolean): Promise<Line> {
    return await this.until(() => this.lines.find(fits));
  }

  /** What is truthy at last, looked at whenever the server says something. */
  async until<T>(holds: () => T): Promise<NonNullable<T>> {
    return await new Promise((resolve, reject) => {
      const look = (): void => {
        const found = holds();
        if (!found) return;
        this.#look.delete(look);
        resolve(found);
      };
      this.#look.add(look);
      this.#closed.then(() => reject(new Error(`The server ended. ${this.stderr}`)), reject);
      look();
    });
  }

  /** Runs `fairlead answer` of the built program. */
  async answerCommand(args: readonly string[], input = ''): Promise<{ code: number; out: string; err: string }> {
    const program = join(root, 'bin', 'fairlead.js');
    const env = { PATH: process.env['PATH'] ?? '', HOME: this.home, FAIRLEAD_HOME: join(this.home, '.fairlead') };
    const child = spawn(process.execPath, [program, 'answer', ...args], { env });
    let out = '';
    let err = '';
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
    child.stdin.end(input);
    const [code] = (await once(child, 'close')) as [number];
    return { code, out, err };
  }

  // oxlint-disable-next-line typescript/no-explicit-any
  async waiting(): Promise<any[]> {
    return JSON.parse((await this.answerCommand(['--list', '--json'])).out).waiting;
  }

  /** Every place that holds the text and should not: output, log, files of the home, the processes and their surroundings. */
  leaks(secret: string): string[] {
    const found: string[] = [];
    const look = (place: string, bytes: Buffer | string): void => {
      if (bytes.includes(secret)) found.push(place);
    };
    look('stdout', this.raw.join('\n'));
    look('stderr', this.stderr);
    for (const [path, bytes] of filesBelow(this.home)) look(path, bytes);
    for (const pid of family(this.child.pid ?? 0)) {
      for (const file of ['cmdline', 'environ']) look(`/proc/${pid}/${file}`, contents(`/proc/${pid}/${file}`));
    }
    return found;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.stdin.end();
    await this.#exited;
    await rm(this.home, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** A process and everything it started. */
export function family(pid: number): number[] {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && existsSync(`/proc/${name}/stat`))
    .map((name) => [Number(name), parentOf(name)] as const);
  const members = [pid];
  for (const member of members) members.push(...parents.filter(([, parent]) => parent === member).map(([one]) => one));
  return members;
}

function parentOf(pid: string): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return 0;
  }
}

export const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** What a 2026-07-28 client puts into every request. */
export const modern = (capabilities: object): object => ({
  _meta: {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': capabilities,
    'io.modelcontextprotocol/clientInfo': { name: 'tester', version: '1' },
  },
});

/** What a person does who was shown a link. */
export async function answerInBrowser(browser: Browser, url: string, text: string): Promise<void> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(url);
  await page.fill('#answer', text);
  await page.click('text=Send');
  await page.waitForSelector('text=You can close this page');
  await context.close();
}

const browsers = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

export async function launchBrowser(): Promise<Browser & AsyncDisposable> {
  const args = ['--no-sandbox', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
  const executablePath = browsers.find((path) => existsSync(path)) ?? '';
  const browser = await chromium.launch({ executablePath, args: [...args, '--no-first-run'] });
  return Object.assign(browser, { [Symbol.asyncDispose]: () => browser.close() });
}
