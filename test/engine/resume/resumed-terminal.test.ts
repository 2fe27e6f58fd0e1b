import { clearTerminal } from '../../../src/engine/terminal/controls.ts';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Channel, DurableFarSide } from '../../../src/engine/terminal/channel.ts';
import type { Engine } from '../../../src/engine/engine.ts';
import { encodeState, type SavedState } from '../../../src/engine/resume/saved-state.ts';
import { OutputLog } from '../../../src/engine/terminal/output-log.ts';
import type { Terminal } from '../../../src/engine/terminal/terminal.ts';
import { EchoChannel } from '../../support/echo-channel.ts';
import { engineWith } from '../../support/engine.ts';
import { anyPiece, everything } from '../../support/screen.ts';

const size = { cols: 20, rows: 5 };
const never = new AbortController().signal;

/** A far side that somebody remembers. */
class Remembered extends EchoChannel {
  facts: Uint8Array | undefined;
  state: { readonly bytes: Uint8Array; readonly at: number } | undefined;
  left = false;
  readonly durable: DurableFarSide = {
    note: (facts) => {
      this.facts = facts;
    },
    save: (bytes, at) => {
      this.state = { bytes, at };
    },
    leave: async () => {
      this.left = true;
      this.end({ by: 'lost', reason: 'left' });
    },
  };
}

function makeEngine(): Engine {
  const dir = mkdtempSync(join(tmpdir(), 'fl-kept-'));
  const echo = async () => ({ channel: new Remembered(size), program: 'echo', nonce: 'secret' });
  return engineWith(dir, { echo }, { size, scrollback: 9 });
}

async function say(terminal: Terminal, channel: EchoChannel, text: string): Promise<void> {
  const bytes = Buffer.from(text);
  const to = terminal.log.end + bytes.length;
  if (bytes.length > 0) channel.say(bytes);
  while (terminal.log.end < to) await new Promise((resolve) => setImmediate(resolve));
  await terminal.sync(never);
}

/** What the next process finds: the bytes since `start`, and whatever was noted and saved. */
function leftOf(terminal: Terminal, channel: Remembered, start = 0) {
  const log = new OutputLog({ start });
  log.append(terminal.log.read(start).bytes);
  return {
    id: terminal.id,
    size: terminal.screen.size,
    log,
    facts: channel.facts,
    state: channel.state?.bytes,
    seen: log.end,
    endedAt: undefined,
  };
}

async function open(engine: Engine): Promise<{ terminal: Terminal; channel: Remembered }> {
  const channel = new Remembered(size);
  const opened = { channel: channel as Channel, program: '/bin/bash', nonce: 'secret', owner: 'me' };
  return {
    terminal: await engine.adopt({ target: 'echo', size, name: 'a name', launch: { command: 'top' } }, opened),
    channel,
  };
}

const mark = (text: string): string => `\x1b]133;${text};fl=secret\x07`;
const anyMark = fc.constantFrom(
  mark('A;n=1'),
  mark('B;n=1'),
  mark('C;n=1'),
  mark('D;0;n=1'),
  mark('D;3;n=1'),
  mark('A;n=2'),
  mark('B;n=2'),
  'ls\r\n',
);
const output = fc.array(fc.oneof(anyPiece, anyMark), { maxLength: 25 }).map((pieces) => pieces.join(''));

test('a terminal another process had goes on as if it never changed hands: screen, blocks, offsets, facts', async () => {
  await fc.assert(
    fc.asyncProperty(output, output, output, async (first, second, third) => {
      await using engine = makeEngine();
      await using next = makeEngine();
      const { terminal: one, channel } = await open(engine);
      await say(one, channel, first);
      const state = one.durable.save();
      if (state) channel.durable.save(encodeState(state), state.screenAt);
      await say(one, channel, second);
      const again = new Remembered(size);
      const other = await next.resume({ ...leftOf(one, channel), opened: { channel: again } });
      await other.sync(never);
      for (const [terminal, far] of [
        [one, channel],
        [other, again],
      ] as const) {
        await say(terminal, far, third);
      }
      expect(everything(other.screen)).toEqual(everything(one.screen));
      expect([other.log.start, other.log.end]).toEqual([one.log.start, one.log.end]);
      expect(blocksOf(other)).toEqual(blocksOf(one));
      const { name, owner, number, target, program, createdAt } = one.identity;
      expect([other.id, other.blocks.marked]).toEqual([one.id, one.blocks.marked]);
      expect(other.identity).toMatchObject({ name, owner, number, target, program, createdAt });
      expect(other.identity.launch).toEqual({ command: 'top' });
    }),
    { numRuns: 60 },
  );
});

function blocksOf({ blocks }: Terminal) {
  const { state, promptAt, promptFrom, cycle, incomplete, list } = blocks;
  const plain = list.map(({ id, outputFrom, outputTo, exitCode, command, trusted }) => ({
    id,
    outputFrom,
    outputTo,
    exitCode,
    command,
    trusted,
  }));
  return { state, promptAt, promptFrom, cycle, incomplete, plain };
}

test('numbers are never given again, not even those of terminals that are gone or that nobody keeps (R-RPC-020)', async () => {
  await using engine = makeEngine();
  const kept = [await open(engine), await open(engine), await open(engine)] as const;
  await using plain = await engine.adopt({ target: 'echo', size }, { channel: new EchoChannel(size), program: 'x' });
  expect(plain.identity.number).toBe(3);
  await kept[2].terminal[Symbol.asyncDispose]();
  for (const left of [kept[0], kept[1]]) {
    await using next = makeEngine();
    const again = new Remembered(size);
    await next.resume({ ...leftOf(left.terminal, left.channel), opened: { channel: again } });
    expect((await open(next)).terminal.identity.number).toBe(4);
    // The other one remembers when this one is gone.
    await kept[0].terminal[Symbol.asyncDispose]();
  }
});

test('commands keep their times; of what happened while nobody was there the time is unknown (R-RPC-029)', async () => {
  await using engine = makeEngine();
  await using next = makeEngine();
  const { terminal, channel } = await open(engine);
  const command = (n: number, text: string): string =>
    `${mark(`A;n=${n}`)}${mark(`B;n=${n}`)}${mark(`C;n=${n}`)}${text}`;
  await say(terminal, channel, `${command(1, 'one')}${mark('D;0;n=1')}${command(2, 'two')}`);
  channel.durable.save(encodeState(terminal.durable.save() as SavedState), 0);
  await say(terminal, channel, `${mark('D;0;n=2')}${command(3, 'three')}${mark('D;0;n=3')}${command(4, 'four')}`);
  const again = new Remembered(size);
  const other = await next.resume({ ...leftOf(terminal, channel), opened: { channel: again } });
  await say(other, again, mark('D;0;n=4'));
  const [one, two, ...rest] = terminal.blocks.list;
  const known = expect.any(Number);
  expect(rest).toHaveLength(2);
  expect(other.blocks.list).toMatchObject([
    { startedAt: one?.startedAt, endedAt: one?.endedAt, isOver: true },
    { startedAt: two?.startedAt, endedAt: undefined, isOver: true },
    { startedAt: undefined, endedAt: undefined, isOver: true },
    { startedAt: undefined, endedAt: known, isOver: true },
  ]);
});

test('where the oldest bytes are gone, reading begins with a whole line and the saved screen is not lost', async () => {
  await using engine = makeEngine();
  await using next = makeEngine();
  const { terminal, channel } = await open(engine);
  await say(terminal, channel, 'top\r\n\x1b[?2004h');
  channel.durable.save(encodeState(terminal.durable.save() as SavedState), 0);
  await say(terminal, channel, '\x1b[31mcut here\r\nwhole\r\n');
  const again = new Remembered(size);
  const other = await next.resume({ ...leftOf(terminal, channel, 16), opened: { channel: again } });
  await other.sync(never);
  expect(other.screen.text({ scope: 'all', wrap: 'join' })).toBe('top\nwhole');
  expect(other.screen.modes.bracketedPaste).toBe(true);
  expect([other.log.start, other.log.end]).toEqual([16, terminal.log.end]);
});

test('questions that were answered before are not answered again, new ones are', async () => {
  await using engine = makeEngine();
  await using next = makeEngine();
  const { terminal, channel } = await open(engine);
  await say(terminal, channel, 'a\x1b[c');
  const again = new Remembered(size);
  const typed: string[] = [];
  const other = await next.resume({
    ...leftOf(terminal, channel),
    opened: {
      channel: Object.assign(again, {
        write: async (bytes: Uint8Array) => void typed.push(Buffer.from(bytes).toString()),
      }),
    },
  });
  await other.sync(never);
  expect(typed).toEqual([]);
  await say(other, again, '\x1b[c');
  await expect.poll(() => typed).toEqual([expect.stringMatching(/^\x1b\[\?/)]);
});

test('it is written down when it grows quiet, after a clear, and at the end, which leaves it running', async () => {
  const engine = makeEngine();
  const { terminal, channel } = await open(engine);
  const facts = (): { name: string } => JSON.parse(Buffer.from(channel.facts ?? []).toString()) as { name: string };
  expect(facts()).toMatchObject({ name: 'a name', nonce: 'secret', number: 0 });
  await say(terminal, channel, 'hello');
  await expect.poll(() => channel.state?.at, { timeout: 3000 }).toBe(5);
  const before = channel.state;
  await clearTerminal(terminal, never);
  await expect.poll(() => channel.state === before, { timeout: 3000 }).toBe(false);
  await say(terminal, channel, ' more');
  await engine[Symbol.asyncDispose]();
  expect(channel.left).toBe(true);
  expect(channel.state?.at).toBe(10);
});
