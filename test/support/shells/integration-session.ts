import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Block, type BlockEvent, Blocks } from '../../../src/engine/terminal/blocks.ts';
import type { Channel } from '../../../src/engine/terminal/channel.ts';
import { type Mark, MarkScanner } from '../../../src/engine/terminal/marks.ts';
import { ptyDriver } from '../../../src/transports/local/index.ts';
import { integrate, type IntegratedLaunch } from '../../../src/transports/local/shell-integration/index.ts';

export interface ShellOptions {
  readonly shell: string;
  /** Files to put into the home directory before the start. */
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly login?: boolean;
  readonly integration?: boolean;
}

const limitMs = 15_000;

/** A real shell in a real terminal, in a home of its own, with its marks and blocks. */
export class ShellSession implements AsyncDisposable {
  readonly home: string;
  readonly launch: IntegratedLaunch;
  readonly blocks: Blocks;
  readonly marks: Mark[] = [];
  readonly events: BlockEvent[] = [];
  readonly channel: Channel;
  readonly #scanner: MarkScanner;
  readonly #pumping: Promise<void>;
  readonly #waiting: (() => void)[] = [];
  #output: Buffer = Buffer.alloc(0);

  static async open(options: ShellOptions): Promise<ShellSession> {
    const home = mkdtempSync(join(tmpdir(), 'fairlead-shell-'));
    for (const [name, text] of Object.entries(options.files ?? {})) writeFileSync(join(home, name), text);
    const env = {
      PATH: process.env['PATH'] ?? '/usr/bin:/bin',
      HOME: home,
      TERM: 'xterm-256color',
      LANG: 'C.UTF-8',
      USER: 'tester',
      ...options.env,
    };
    const nonce = randomBytes(8).toString('hex');
    const root = join(home, '.fairlead');
    const asked = { shell: options.shell, args: [], env, login: options.login ?? false };
    const launch = integrate(asked, { root, nonce });
    const target = options.integration === false ? { argv: [options.shell] as const, env } : launch;
    const channel = await ptyDriver().open(
      { argv: target.argv, env: target.env, cwd: home },
      { cols: 120, rows: 30 },
      AbortSignal.timeout(limitMs),
    );
    return new ShellSession(home, launch, channel, nonce);
  }

  private constructor(home: string, launch: IntegratedLaunch, channel: Channel, nonce: string) {
    this.home = home;
    this.launch = launch;
    this.channel = channel;
    this.#scanner = new MarkScanner({ nonce });
    this.blocks = new Blocks({ clock: { now: () => Date.now() } });
    this.#pumping = this.#pump();
  }

  /** Everything printed so far. */
  get raw(): string {
    return this.#output.toString('utf8');
  }

  get length(): number {
    return this.#output.length;
  }

  slice(from: number, to?: number): string {
    return this.#output.subarray(from, to).toString('utf8');
  }

  /** Output of a block as text: no sequences, no carriage returns. */
  output(block: Block): string {
    return plain(this.slice(block.outputFrom, block.outputTo));
  }

  async type(text: string): Promise<void> {
    await this.channel.write(Buffer.from(text));
  }

  async prompt(): Promise<void> {
    await this.until(() => this.blocks.state === 'prompt' && this.blocks.promptAt !== undefined, 'a prompt');
  }

  /** Enters a line and waits for its block to end and the next prompt to stand. */
  async run(line: string): Promise<Block> {
    await this.prompt();
    const seen = this.events.length;
    await this.type(`${line}\r`);
    await this.until(() => this.events.slice(seen).some((event) => event.type === 'ended'), `the end of ${line}`);
    const ended = this.events.slice(seen).findLast((event) => event.type === 'ended');
    if (ended?.type !== 'ended') throw new Error('unreachable');
    await this.prompt();
    return ended.block;
  }

  async until(holds: () => boolean, what: string): Promise<void> {
    const deadline = AbortSignal.timeout(limitMs);
    while (!holds()) {
      await new Promise<void>((resolve, reject) => {
        const give = (): void =>
          reject(
            new Error(
              `waited for ${what}; state ${this.blocks.state}; output:\n${JSON.stringify(this.raw.slice(-1500))}`,
            ),
          );
        deadline.addEventListener('abort', give, { once: true });
        if (deadline.aborted) give();
        const wake = (): void => {
          deadline.removeEventListener('abort', give);
          resolve();
        };
        this.#waiting.push(wake);
      });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.channel[Symbol.asyncDispose]();
    await this.#pumping;
    this.launch.cleanup();
    rmSync(this.home, { recursive: true, force: true });
  }

  async #pump(): Promise<void> {
    for await (const chunk of this.channel.output) {
      const at = this.#output.length;
      this.#output = Buffer.concat([this.#output, chunk]);
      // The line editor of busybox asks where the cursor is, and waits for the answer.
      if (this.slice(at).includes('\x1b[6n')) this.channel.write(Buffer.from('\x1b[1;1R')).catch(() => {});
      for (const mark of this.#scanner.scan(chunk, at)) {
        this.marks.push(mark);
        this.events.push(...this.blocks.accept(mark));
      }
      for (const wake of this.#waiting.splice(0)) wake();
    }
  }
}

/** What a person would read: no escape sequences, no carriage returns. */
export function plain(text: string): string {
  return text
    .replace(/\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)/g, '')
    .replace(/\x1b\[[0-?]*[ -/]*[@-~]/g, '')
    .replace(/\x1b[()][A-Za-z0-9]/g, '')
    .replace(/\x1b[=>]/g, '')
    .replaceAll('\r', '');
}

export function installed(shell: string): boolean {
  return (process.env['PATH'] ?? '').split(':').some((dir) => existsSync(join(dir, shell)));
}
