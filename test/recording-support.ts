import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../src/lib/clock.ts';
import { deferred } from '../src/lib/deferred.ts';
import { Emitter } from '../src/lib/emitter.ts';
import type { Block, BlockEvent } from '../src/engine/blocks.ts';
import type { Ended, Size } from '../src/engine/channel.ts';
import type { InputEvent } from '../src/engine/keyboard.ts';
import type { OutputEvent } from '../src/engine/terminal.ts';
import { OutputLog } from '../src/engine/output-log.ts';
import type { Recordable } from '../src/engine/recording/terminal-source.ts';

/** For tests: time that passes only when told to. */
export class FakeClock implements Clock {
  #now = 1_700_000_000_000;
  #ms = 5_000;
  readonly #timers = new Set<{ readonly at: number; readonly run: () => void }>();

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#ms;
  }

  after(ms: number, run: () => void): Disposable {
    const timer = { at: this.#ms + ms, run };
    this.#timers.add(timer);
    return { [Symbol.dispose]: () => void this.#timers.delete(timer) };
  }

  get timers(): number {
    return this.#timers.size;
  }

  advance(ms: number): void {
    const end = this.#ms + ms;
    for (;;) {
      const next = [...this.#timers].sort((a, b) => a.at - b.at)[0];
      if (next === undefined || next.at > end) break;
      this.#timers.delete(next);
      this.#move(Math.max(this.#ms, next.at));
      next.run();
    }
    this.#move(end);
  }

  #move(to: number): void {
    this.#now += to - this.#ms;
    this.#ms = to;
  }
}

/** For tests: what recordings need of a terminal, played by hand. */
export class FakeTerminal implements Recordable {
  readonly id: string;
  size: Size = { cols: 80, rows: 24 };
  readonly program = '/bin/bash';
  readonly log = new OutputLog();
  readonly output = new Emitter<OutputEvent>();
  readonly input = new Emitter<InputEvent>();
  readonly resized = new Emitter<Size>();
  readonly block = new Emitter<BlockEvent>();
  readonly screen = { snapshot: () => this.shows };
  shows = '';
  ended: Ended | undefined;
  readonly #clock: Clock;
  readonly #ended = deferred<Ended>();

  constructor(clock: Clock, id = '0a1b2') {
    this.#clock = clock;
    this.id = id;
  }

  get whenEnded(): Promise<Ended> {
    return this.#ended.promise;
  }

  async sync(): Promise<void> {}

  get listeners(): number {
    return this.output.size + this.input.size + this.resized.size + this.block.size;
  }

  print(text: string | Uint8Array): void {
    const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text;
    this.output.emit({ bytes, from: 0, atMs: this.#clock.monotonic() });
  }

  type(text: string, echo: boolean | undefined): void {
    this.input.emit({ bytes: new TextEncoder().encode(text), by: 'test', echo, atMs: this.#clock.monotonic() });
  }

  resizeTo(size: Size): void {
    this.size = size;
    this.resized.emit(size);
  }

  run(command: string, exitCode?: number): void {
    this.block.emit({ type: 'started', block: this.#blockOf(command) });
    if (exitCode !== undefined) this.finish(command, exitCode);
  }

  finish(command: string, exitCode: number): void {
    this.block.emit({ type: 'ended', block: { ...this.#blockOf(command), exitCode, endedAt: this.#clock.now() } });
  }

  #blockOf(command: string): Block {
    return {
      id: 1,
      promptFrom: 0,
      commandFrom: 0,
      outputFrom: 0,
      outputTo: undefined,
      command,
      exitCode: undefined,
      startedAt: this.#clock.now(),
      endedAt: undefined,
      cwd: undefined,
      trusted: true,
      inferredStart: false,
    };
  }

  async end(ended: Ended): Promise<void> {
    this.ended = ended;
    this.#ended.resolve(ended);
    await this.#ended.promise;
  }
}

export interface TempDir extends AsyncDisposable {
  readonly path: string;
}

export async function tempDir(): Promise<TempDir> {
  const path = await mkdtemp(join(tmpdir(), 'fairlead-recording-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
