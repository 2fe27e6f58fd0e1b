import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Engine } from '../../../src/engine/engine.ts';
import { Tape } from '../../../src/engine/recording/cast/tape.ts';
import type { Terminal } from '../../../src/engine/terminal/terminal.ts';
import { EchoChannel } from '../../support/echo-channel.ts';
import { engineWith, limit } from '../../support/engine.ts';
import { ManualClock } from '../../support/clocks/manual.ts';
import { readLines } from '../../support/recording.ts';

const size = { cols: 80, rows: 24 };
let folder: string;
let clock: ManualClock;
let logged: string[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fl-timer-mistake-'));
  clock = new ManualClock();
  logged = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A far side that somebody remembers. */
class Remembered extends EchoChannel {
  readonly saved: number[] = [];
  readonly durable = {
    note: () => {},
    save: (_state: Uint8Array, at: number) => void this.saved.push(at),
    leave: async () => this.end({ by: 'lost', reason: 'left' }),
  };
}

const start = (channel: EchoChannel): Engine =>
  engineWith(folder, { echo: async () => ({ channel, program: 'echo' }) }, { clock, log: (line) => logged.push(line) });

async function say(terminal: Terminal, channel: EchoChannel, text: string): Promise<void> {
  channel.say(Buffer.from(text));
  await expect.poll(() => Buffer.from(terminal.log.read(0).bytes).toString()).toContain(text);
  await terminal.sync(limit());
}

const ours = (): never => {
  throw new RangeError('what was printed');
};
/** Where incidents were, without what the error said. */
const places = (): (string | undefined)[] => {
  expect(logged.join('\n')).not.toContain('what was printed');
  return logged.map((line) => / in (.*) of terminal/.exec(line)?.[1]);
};

describe('a mistake of ours in a timer is an incident and ends nothing', () => {
  test('when a screen is put to sleep: it stays awake, and sleeps the next time', async () => {
    const channel = new EchoChannel(size, { echo: false });
    await using engine = start(channel);
    const terminal = await engine.open({ target: 'echo', size }, limit());
    await say(terminal, channel, 'hello');
    vi.spyOn(terminal.screen, 'hibernate').mockImplementationOnce(ours);
    clock.advance(31_000);
    expect([terminal.screen.state, places()]).toEqual(['live', ['the screen']]);
    clock.advance(31_000);
    expect([terminal.screen.state, places()]).toEqual(['asleep', ['the screen']]);
    expect(terminal.screen.text({ scope: 'all', wrap: 'join' })).toBe('hello');
  });

  test('when a screen is written down for the next process: it is with the next output', async () => {
    const channel = new Remembered(size, { echo: false });
    await using engine = start(channel);
    const terminal = await engine.open({ target: 'echo', size }, limit());
    vi.spyOn(terminal.screen, 'save').mockImplementationOnce(ours);
    await say(terminal, channel, 'hello');
    clock.advance(5000);
    // Saving takes its turn after what callers wait for.
    await expect.poll(places).toEqual(['the screen']);
    expect(channel.saved).toEqual([]);
    await say(terminal, channel, 'again');
    clock.advance(5000);
    await expect.poll(() => channel.saved).toEqual([10]);
    expect(places()).toEqual(['the screen']);
  });

  test('when somebody is looked for whom a program waits', async () => {
    const channel = new EchoChannel(size, { echo: false });
    await using engine = start(channel);
    const terminal = await engine.open({ target: 'echo', size }, limit());
    await say(terminal, channel, 'Password: ');
    vi.spyOn(terminal.person.prompts, 'look').mockImplementationOnce(ours);
    clock.advance(40);
    await expect.poll(places).toEqual(['the screen']);
    expect(terminal.ended).toBeUndefined();
  });

  test('when a recording lets go of a line that nobody ends, and when it stops: what was printed is in it', async () => {
    const channel = new EchoChannel(size, { echo: false });
    await using engine = start(channel);
    const terminal = await engine.open({ target: 'echo', size }, limit());
    const { recordingId } = await engine.recordings.start(terminal, { redact: true });
    const stale = vi.spyOn(Tape.prototype, 'releaseStale').mockImplementationOnce(ours);
    const end = vi.spyOn(Tape.prototype, 'end').mockImplementationOnce(ours);
    onTestFinished(() => {
      stale.mockRestore();
      end.mockRestore();
    });
    await say(terminal, channel, 'a line\r\nand a half');
    clock.advance(1000);
    expect(places()).toEqual(['a recording']);
    clock.advance(10_000);
    const { saved, path } = await engine.recordings.stop(recordingId);
    expect([saved, places()]).toEqual([true, ['a recording', 'a recording']]);
    const [, ...events] = await readLines(path);
    expect(events.map(([, , text]) => text).join('')).toBe('a line\r\nand a half');
    expect(engine.recordings.active).toEqual([]);
  });
});
