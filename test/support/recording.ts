import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import type { Clock } from '../../src/lib/clock.ts';
import { deferred } from '../../src/lib/deferred.ts';
import { Emitter } from '../../src/lib/emitter.ts';
import type { Block, BlockEvent } from '../../src/engine/terminal/blocks.ts';
import type { ScreenEvent } from '../../src/engine/screen/xterm/emulator.ts';
import type { Ended, Size } from '../../src/engine/terminal/channel.ts';
import type { InputEvent } from '../../src/engine/input/keyboard.ts';
import type { OutputEvent } from '../../src/engine/terminal/intake.ts';
import { OutputLog } from '../../src/engine/terminal/output-log.ts';
import type { CastReading } from '../../src/engine/recording/cast/cast-reader.ts';
import type { RecordingMetadata } from '../../src/engine/recording/metadata.ts';
import { Recordings, type RecordingsOptions } from '../../src/engine/recording/recordings.ts';
import type { Recordable } from '../../src/engine/recording/terminal-source.ts';
import { ManualClock } from './clocks/manual.ts';

const epoch = 1_700_000_000_000;

/** For tests: what recordings need of a terminal, played by hand. */
export class FakeTerminal implements Recordable {
  readonly id: string;
  readonly identity = { program: '/bin/bash' };
  readonly log = new OutputLog();
  readonly output = new Emitter<OutputEvent>();
  readonly input = { events: new Emitter<InputEvent>() };
  readonly blocks = {
    events: new Emitter<BlockEvent>(),
    promptBegan: new Emitter<number>(),
    list: [] as Block[],
    current: undefined as Block | undefined,
    promptFrom: undefined as number | undefined,
    promptAt: undefined as number | undefined,
  };
  readonly place = { cwd: undefined as string | undefined, isHere: true };
  readonly screen = {
    snapshot: () => this.shows,
    pending: new Uint8Array(0),
    size: { cols: 80, rows: 24 } as Size,
    resized: new Emitter<Size>(),
    title: '',
    alternate: false,
    events: new Emitter<ScreenEvent>(),
  };
  shows = '';
  ended: Ended | undefined;
  readonly state = { isClosing: false };
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
    return this.output.size + this.input.events.size + this.screen.resized.size + this.blocks.events.size;
  }

  print(text: string | Uint8Array): void {
    const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text;
    const from = this.log.end;
    this.log.append(bytes);
    this.output.emit({ bytes, from, atMs: this.#clock.monotonic() });
  }

  type(text: string, echo: boolean | undefined): void {
    this.input.events.emit({ bytes: new TextEncoder().encode(text), by: 'test', echo, atMs: this.#clock.monotonic() });
  }

  resizeTo(size: Size): void {
    this.screen.size = size;
    this.screen.resized.emit(size);
  }

  run(command: string, exitCode?: number): void {
    this.blocks.events.emit({ type: 'started', block: this.#blockOf(command) });
    if (exitCode !== undefined) this.finish(command, exitCode);
  }

  finish(command: string, exitCode: number): void {
    this.blocks.events.emit({
      type: 'ended',
      block: { ...this.#blockOf(command), exitCode, endedAt: this.#clock.now(), isOver: true },
    });
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
      isOver: false,
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

/** For tests: what one test of recordings needs, made anew before each and removed after it. */
export class Studio {
  dir = '';
  clock = new ManualClock(epoch);
  terminal = new FakeTerminal(this.clock);

  constructor() {
    beforeEach(async () => {
      this.dir = await mkdtemp(join(tmpdir(), 'fairlead-recording-'));
      this.clock = new ManualClock(epoch);
      this.terminal = new FakeTerminal(this.clock);
    });
    afterEach(() => rm(this.dir, { recursive: true, force: true }));
  }

  open(more: Partial<RecordingsOptions> = {}): Recordings {
    return new Recordings({
      dir: this.dir,
      idleTimeLimit: 2,
      maxDuration: 3600,
      inactivityTimeout: 600,
      clock: this.clock,
      parts: { freeBytes: async () => 1e12 },
      ...more,
    });
  }

  /** A finished recording of what `act` does, with no limit on pauses or length. */
  async recorded(act: () => void, format: 'v2' | 'v3' = 'v2'): Promise<{ id: string; path: string }> {
    const recordings = this.open({ idleTimeLimit: 0, maxDuration: 0, inactivityTimeout: 0 });
    const { recordingId } = await recordings.start(this.terminal, { format, markers: true });
    act();
    const { path } = await recordings.stop(recordingId);
    return { id: recordingId, path };
  }
}

export interface TempDir extends AsyncDisposable {
  readonly path: string;
}

export async function tempDir(): Promise<TempDir> {
  const path = await mkdtemp(join(tmpdir(), 'fairlead-recording-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

export const finished = (recordings: Recordings): Promise<{ readonly stopReason: string; readonly path: string }> =>
  new Promise((resolve) => recordings.finished.on(resolve));

/** Every event of a cast, times in ms. */
export async function events(cast: CastReading): Promise<CastEvent[]> {
  const all: CastEvent[] = [];
  for await (const { atMs, code, data } of cast.events) all.push([Math.round(atMs * 1000) / 1000, code, data]);
  return all;
}

export type CastEvent = [number, string, string];
export type CastLines = [Record<string, unknown>, ...CastEvent[]];

/** Every line of a finished cast. */
export async function readLines(path: string): Promise<CastLines> {
  const text = await readFile(path, 'utf8');
  expect(text.endsWith('\n')).toBe(true);
  const lines = text.trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as unknown) as CastLines;
}

export async function readMeta(path: string): Promise<RecordingMetadata> {
  return JSON.parse(await readFile(path.replace(/\.cast$/, '.meta.json'), 'utf8')) as RecordingMetadata;
}
