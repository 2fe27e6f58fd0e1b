import { afterAll, describe, expect, test, vi } from 'vitest';
import type { Engine } from '../../../src/engine/engine.ts';
import { call } from '../../../src/engine/call/call.ts';
import { callStream } from '../../../src/engine/call/call-stream.ts';
import type { AnyOperation } from '../../../src/engine/call/operation.ts';
import { localPerson } from '../../../src/engine/call/principal.ts';
import { answerPrompt } from '../../../src/engine/person/answer.ts';
import type { Terminal } from '../../../src/engine/terminal/terminal.ts';
import { followTerminal, history, scrollback, see, type } from '../../../src/operations/person/index.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EchoChannel } from '../../support/echo-channel.ts';
import { engineWith, limit, shellHome } from '../../support/engine.ts';

type Followed = Awaited<ReturnType<typeof follow>>[number];
type History = Awaited<ReturnType<NonNullable<(typeof history)['run']>>>;

const asked = <Out>(engine: Engine, op: AnyOperation, input: object): Promise<Out> =>
  call(op, input, { engine, caller: localPerson, signal: limit() }) as Promise<Out>;

/** What a follower has heard so far, until `isEnough`. */
async function follow(
  engine: Engine,
  input: object,
  isEnough: (items: { from: number; bytes: string; events?: { event: string; off: number }[] }[]) => boolean,
) {
  const leaving = new AbortController();
  const items: {
    from: number;
    bytes: string;
    events?: ({ event: string; off: number } & Record<string, unknown>)[];
  }[] = [];
  const stream = callStream(followTerminal, input, { engine, caller: localPerson, signal: leaving.signal });
  for await (const item of stream) {
    items.push(item as (typeof items)[number]);
    if (isEnough(items)) leaving.abort();
  }
  return items;
}

describe('in a shell that marks its commands', () => {
  const home = shellHome({ '.bashrc': 'PS1="$ "' });
  afterAll(() => home[Symbol.asyncDispose]());

  test('R-HUB-083: who typed, when and on which row; a secret has no length, and no text is kept', async () => {
    const terminal = await home.open('bash');
    const { input } = terminal;
    await input.send(Buffer.from('echo one\r'), 'claude', limit());
    await vi.waitUntil(() => terminal.blocks.list.length === 1 && terminal.blocks.promptAt !== undefined);
    for (const key of 'echo two\r') await input.send(Buffer.from(key), 'person', limit(), 'person');
    await vi.waitUntil(() => terminal.blocks.list.length === 2 && terminal.blocks.promptAt !== undefined);
    await input.send(Buffer.from('read -s -p "Password: " x; echo\r'), 'claude', limit());
    await vi.waitUntil(() => terminal.person.prompts.current?.secret === true, { timeout: 10_000 });
    const answer = { text: 'open-sesame', prompt: 'Password:', secret: true, submit: true };
    await answerPrompt(
      terminal,
      { ...answer, prompt: terminal.person.prompts.current?.prompt ?? '' },
      'person',
      limit(),
    );
    await vi.waitUntil(() => terminal.blocks.list.length === 3 && terminal.blocks.promptAt !== undefined);
    // Typed into the terminal itself, a secret is one, too.
    await input.send(Buffer.from('read -s y; echo\r'), 'claude', limit());
    await vi.waitUntil(() => terminal.blocks.state === 'running' && terminal.process?.inputMode() === 'hidden');
    await terminal.sync(limit());
    for (const key of 'hunter2\r') await input.send(Buffer.from(key), 'person', limit(), 'person');
    await vi.waitUntil(() => terminal.blocks.list.length === 4 && terminal.blocks.promptAt !== undefined);
    const { typed } = terminal.usage.history;
    expect(typed.map(({ by, kind, secret, bytes }) => [by, kind, secret, bytes])).toEqual([
      ['claude', 'agent', false, 9],
      ['person', 'person', false, 9],
      ['claude', 'agent', false, 32],
      ['person', 'person', true, undefined],
      ['claude', 'agent', false, 16],
      ['person', 'person', true, undefined],
    ]);
    await terminal.sync(limit());
    const { rows } = await terminal.feed.older.rowsOf(limit());
    const shown = terminal.screen.rowTexts(0).map(({ text }) => text);
    const at = typed.map(({ off }) => shown[rows.get(off) ?? -1]);
    expect(at).toEqual([
      '$ echo one',
      '$ echo two',
      '$ read -s -p "Password: " x; echo',
      'Password: ',
      '$ read -s y; echo',
      '',
    ]);
    expect(terminal.blocks.list.map(({ promptFrom }) => shown[rows.get(promptFrom ?? -1) ?? -1])).toEqual([
      '$ echo one',
      '$ echo two',
      '$ read -s -p "Password: " x; echo',
      '$ read -s y; echo',
    ]);
    const kept = JSON.stringify([terminal.usage.history.since(0, terminal.log.end), terminal.durable.save()?.typed]);
    for (const word of ['sesame', 'hunter']) expect(kept).not.toContain(word);
    expect(JSON.stringify(typed)).not.toContain('echo');
  });
});

describe('on any terminal', () => {
  const size = { cols: 40, rows: 6 };

  async function opened(work: (engine: Engine, far: EchoChannel, terminal: Terminal) => Promise<void>): Promise<void> {
    const home = mkdtempSync(join(tmpdir(), 'fairlead-history-'));
    try {
      const far = new EchoChannel(size);
      await using engine = engineWith(
        home,
        { echo: () => Promise.resolve({ channel: far, program: 'echo' }) },
        { scrollback: 100, readableRows: () => 10_000 },
      );
      await work(engine, far, await engine.open({ target: 'echo', size }, limit()));
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  }

  const typedBy = (engine: Engine, text: string) => asked(engine, type, { session: 0, text });

  test('R-HUB-087: a follower hears of input, size and keyboard in order with the bytes', () =>
    opened(async (engine, far, terminal) => {
      far.say('$ ');
      await vi.waitUntil(() => terminal.log.end === 2);
      const seen = await asked<{ from: number; event: number }>(engine, see, { session: 0 });
      const following = follow(engine, { session: 0, from: seen.from, event: seen.event }, (items) =>
        items.some(({ events = [] }) => events.some(({ event }) => event === 'size')),
      );
      await typedBy(engine, 'id\r');
      await vi.waitUntil(() => terminal.log.end === 5);
      await terminal.resize({ cols: 50, rows: 10 }, limit());
      const items = await following;
      const events = items.flatMap((item: Followed) => item.events ?? []);
      expect(events).toMatchObject([
        { event: 'lease', off: 2, by: 'person', kind: 'person', isTaken: false, epoch: 0 },
        { event: 'typed', off: 2, by: 'person', kind: 'person', bytes: 3, secret: false },
        { event: 'size', off: 5, cols: 50, rows: 10 },
      ]);
      // An event comes with the bytes before it, or after them, never before.
      for (const { from, bytes, events: here = [] } of items) {
        const end = from + Buffer.from(bytes, 'base64').length;
        for (const { off } of here) expect(off).toBeLessThanOrEqual(end);
      }
      // A reader that returns with the number of the last event it had gets the rest.
      const again = await follow(engine, { session: 0, from: 5, event: Number(events[0]?.['n']) }, () => true);
      expect(again[0]?.events?.map(({ event }) => event)).toEqual(['typed', 'size']);
      const fresh = await follow(engine, { session: 0 }, () => true);
      expect(fresh[0]).not.toHaveProperty('events');
    }));

  test('the history says where each input stands, also after rows left the emulator and after a reflow', () =>
    opened(async (engine, far, terminal) => {
      const line = async (text: string): Promise<void> => {
        const end = terminal.log.end + text.length;
        far.say(text);
        await vi.waitUntil(() => terminal.log.end === end);
      };
      for (let block = 0; block < 5; block++) {
        await line(`prompt ${block}> `);
        await typedBy(engine, `cmd${block}`);
        await vi.waitUntil(() => terminal.log.end >= (block + 1) * 10);
        await line('\r\n');
        for (let row = 0; row < 60; row++) await line(`${block} row ${row} ${'x'.repeat(20)}\r\n`);
        terminal.usage.history.add({ event: 'prompt' });
      }
      const rowsOf = async () => {
        const { typed } = await asked<History>(engine, history, { session: 0 });
        const { from, rows } = await asked<{ from: number; rows: string[] }>(engine, scrollback, {
          session: 0,
          rows: 2000,
        });
        return typed.map(({ row = -1 }) => rows[row - from]);
      };
      const expected = Array.from({ length: 5 }, (_, block) => `prompt ${block}> cmd${block}`);
      expect(await rowsOf()).toEqual(expected);
      await terminal.resize({ cols: 25, rows: 6 }, limit());
      expect((await rowsOf()).slice(-2)).toEqual(expected.slice(-2));
      const { text } = await rendered(engine);
      expect(text).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z {2}person person: 4 bytes, row \d+$/m);
    }));

  async function rendered(engine: Engine): Promise<{ text: string }> {
    const answer = await asked<History>(engine, history, { session: 0 });
    return { text: history.render(answer) as string };
  }

  test('older rows come with their colours, page by page, and are the rows that were printed', () =>
    opened(async (engine, far, terminal) => {
      const printed = Array.from({ length: 3000 }, (_, at) =>
        at % 3 === 0 ? `\x1b[31mred ${at}\x1b[0m` : `row ${at}`,
      );
      const text = `${printed.join('\r\n')}\r\n${'w'.repeat(60)}\r\n${'\r\n'.repeat(5)}`;
      far.say(text);
      await vi.waitUntil(() => terminal.log.end === text.length);
      const { top, epoch } = await asked<{ top: number; epoch: number }>(engine, see, { session: 0 });
      const all: string[] = [];
      let before = top;
      for (;;) {
        const page = await asked<{ from: number; oldest: number; rows: string[]; wrapped: number[]; epoch: number }>(
          engine,
          scrollback,
          { session: 0, before, rows: 700 },
        );
        expect(page.epoch).toBe(epoch);
        expect(page.from + page.rows.length).toBe(before);
        if (before === top) expect(page.wrapped.map((at) => page.rows[at])).toEqual(['w'.repeat(20)]);
        all.unshift(...page.rows);
        before = page.from;
        if (page.from <= page.oldest) break;
      }
      expect(before).toBe(0);
      expect(all.slice(0, 3000)).toEqual(printed);
      const none = await asked<{ rows: string[]; from: number }>(engine, scrollback, { session: 0, before: 0 });
      expect(none).toMatchObject({ rows: [], from: 0 });
    }));

  test.each([
    [{ rows: 0 }, 'rows'],
    [{ rows: 2001 }, 'rows'],
    [{ before: -1 }, 'before'],
    [{ before: 1.5 }, 'before'],
    [{ session: 9 }, 'session'],
    [{ other: 1 }, 'other'],
  ])('refuses %j', (input, why) => opened((engine) => expect(asked(engine, scrollback, input)).rejects.toThrow(why)));
});
