import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { localPerson } from '../../../src/engine/call/principal.ts';
import type { Engine } from '../../../src/engine/engine.ts';
import { type WatchedItem, watchEngine } from '../../../src/engine/events/watch.ts';
import type { OpenQuestion } from '../../../src/engine/person/questions/question.ts';
import { RecordingSettings } from '../../../src/engine/recording/log/settings.ts';
import { Redactor } from '../../../src/engine/redaction/redactor.ts';
import { systemClock } from '../../../src/system/clock.ts';
import { EchoChannel } from '../../support/echo-channel.ts';
import { engineWith, limit } from '../../support/engine.ts';
import { LogRoot } from '../../support/session-logs.ts';

const some: unknown = expect.any(String);

test('a reader that falls behind gets the whole state in place of the changes it missed', async () => {
  const home = mkdtempSync(join(tmpdir(), 'fairlead-watch-'));
  try {
    const size = { cols: 80, rows: 24 };
    const echo = () => Promise.resolve({ channel: new EchoChannel(size), program: 'echo' });
    await using engine = engineWith(home, { echo });
    const terminal = await engine.open({ target: 'echo', size }, limit());
    const leaving = new AbortController();
    const watching = watchEngine(engine, localPerson, leaving.signal);
    const kind = async () => (await watching.next()).value?.kind;
    const ring = (times: number): void => {
      for (let i = 0; i < times; i++) engine.events.emit({ kind: 'bell', terminal });
    };
    expect(await kind()).toBe('all');
    ring(256);
    const kept = await Promise.all(Array.from({ length: 256 }, kind));
    expect(new Set(kept)).toEqual(new Set(['bell']));
    ring(257);
    expect(await kind()).toBe('all');
    const next = kind();
    ring(1);
    expect(await next).toBe('bell');
    const last = watching.next();
    leaving.abort();
    expect(await last).toMatchObject({ done: true });
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});

test('a watcher sees that a terminal is recorded, as a cast or as the log of a session', async () => {
  using root = new LogRoot();
  const size = { cols: 80, rows: 24 };
  const echo = () => Promise.resolve({ channel: new EchoChannel(size), program: 'echo' });
  const settings = new RecordingSettings({ root: root.path, clock: systemClock, warn: () => {} });
  const redactor = new Redactor({ key: Buffer.alloc(32) });
  const logs = { root: root.path, home: root.path, version: '9', settings, redactor: () => redactor };
  await using engine = engineWith(root.path, { echo }, { logs });
  const terminal = await engine.open({ target: 'echo', size }, limit());
  const leaving = new AbortController();
  const watching = watchEngine(engine, localPerson, leaving.signal);
  expect((await watching.next()).value).toMatchObject({
    terminals: [expect.not.objectContaining({ recordingId: some })],
  });
  const entry = await engine.logs?.start(terminal);
  const began = { kind: 'recording', terminal: { recordingId: entry?.recording_id } };
  expect((await watching.next()).value).toMatchObject(began);
  await engine.logs?.stop(terminal);
  const { value } = await watching.next();
  expect(value).toMatchObject({ kind: 'recording' });
  expect(value).not.toMatchObject({ terminal: { recordingId: some } });
  leaving.abort();
  await watching.return();
});

test('a watcher hears where a caller wants the person to look, if it may see that (R-RPC-125)', async () => {
  const home = mkdtempSync(join(tmpdir(), 'fairlead-watch-'));
  try {
    const size = { cols: 80, rows: 24 };
    const echo = () => Promise.resolve({ channel: new EchoChannel(size), program: 'echo', owner: 'owner' });
    await using engine = engineWith(home, { echo });
    const terminal = await engine.open({ target: 'echo', size }, limit());
    const leaving = new AbortController();
    const watching = watchEngine(engine, localPerson, leaving.signal);
    const stranger = watchEngine(engine, { principal: 'other' }, leaving.signal);
    await watching.next();
    await stranger.next();
    let heard = 0;
    const focus = (session: number | undefined) =>
      engine.events.emit({ kind: 'focus', session, heard: () => (heard += 1) });
    focus(terminal.identity.number);
    expect(heard).toBe(1);
    expect((await watching.next()).value).toMatchObject({ kind: 'focus', terminal: { terminal: terminal.id } });
    focus(undefined);
    expect(heard).toBe(3);
    expect((await watching.next()).value).toEqual({ kind: 'focus', cursor: some });
    expect((await stranger.next()).value).toEqual({ kind: 'focus', cursor: some });
    const rest = [watching.next(), stranger.next()];
    leaving.abort();
    await Promise.all(rest);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});

describe('a reader that returns with its cursor', () => {
  const size = { cols: 80, rows: 24 };

  async function watched(work: (made: ReturnType<typeof desk>) => Promise<void>): Promise<void> {
    const home = mkdtempSync(join(tmpdir(), 'fairlead-watch-'));
    try {
      await using engine = engineWith(home, {
        echo: () => Promise.resolve({ channel: new EchoChannel(size), program: 'echo' }),
      });
      await work(desk(engine));
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  }

  function desk(engine: Engine) {
    const open = () => engine.open({ target: 'echo', size }, limit());
    /** The items there are for a reader, and the cursor of the last. */
    const read = async (since?: string, principal = localPerson.principal) => {
      const leaving = new AbortController();
      const watching = watchEngine(engine, { principal }, leaving.signal, since);
      const items: WatchedItem[] = [];
      for (;;) {
        const next = watching.next();
        const isThere = await Promise.race([
          next.then(() => true),
          new Promise<false>((no) => setImmediate(no, false)),
        ]);
        if (!isThere) {
          leaving.abort();
          await next;
          return { items, cursor: items.at(-1)?.cursor ?? since };
        }
        items.push((await next).value as WatchedItem);
      }
    };
    return { engine, open, read };
  }

  test('gets each object that changed, once and as it is now', () =>
    watched(async ({ engine, open, read }) => {
      const [still, busy, gone] = [await open(), await open(), await open()];
      const { cursor } = await read();
      expect((await read(cursor)).items).toEqual([]);
      for (let i = 0; i < 3; i++) await busy.resize({ cols: 90 + i, rows: 24 }, limit());
      const added = await open();
      await gone[Symbol.asyncDispose]();
      const { items, cursor: next } = await read(cursor);
      const told = items.map((item) => ('terminal' in item ? [item.kind, item.terminal?.terminal] : [item.kind]));
      expect(told).toEqual([
        ['state', busy.id],
        ['state', added.id],
        ['closed', gone.id],
      ]);
      expect(items[0]).toMatchObject({ terminal: { cols: 92 } });
      expect(JSON.stringify(items)).not.toContain(still.id);
      // A bell and a wish to be looked at change nothing.
      engine.events.emit({ kind: 'bell', terminal: busy });
      expect((await read(next)).items).toEqual([]);
    }));

  test('that left in the middle of them gets them again', () =>
    watched(async ({ engine, open, read }) => {
      const { cursor } = await read();
      await open();
      await open();
      const leaving = new AbortController();
      const watching = watchEngine(engine, localPerson, leaving.signal, cursor);
      const { value: first } = await watching.next();
      leaving.abort();
      await watching.return();
      expect((await read(first?.cursor)).items).toHaveLength(2);
    }));

  test('hears of a title that changed while no reader was there', () =>
    watched(async ({ open, read }) => {
      const terminal = await open();
      const { cursor } = await read();
      await terminal.input.send(Buffer.from('\x1b]2;made\x07'), 'test', limit());
      await vi.waitUntil(() => terminal.log.end > 0);
      await terminal.sync(limit());
      const { items } = await read(cursor);
      expect(items.at(-1)).toMatchObject({ kind: 'state', terminal: { title: 'made' } });
    }));

  test('gets the whole state when its cursor is too old, of another process, or none', () =>
    watched(async ({ engine, open, read }) => {
      const terminal = await open();
      const { cursor = '' } = await read();
      const question = { id: 'q', principal: localPerson.principal } as OpenQuestion;
      for (let at = 0; at < 1025; at++) {
        engine.events.emit({ kind: 'question', question: { ...question, id: `q${at}` }, isOpen: false });
      }
      for (const old of [cursor, 'other.1', '', '.', `${cursor}99999`, `${cursor.split('.')[0]}.x`]) {
        const { items } = await read(old);
        expect(
          items.map(({ kind }) => kind),
          old,
        ).toEqual(['all']);
        expect(items[0]).toMatchObject({ terminals: [{ terminal: terminal.id }] });
      }
    }));

  test('hears nothing of what it may not see', () =>
    watched(async ({ engine, read }) => {
      const { cursor } = await read(undefined, 'other');
      const question = { id: 'q', principal: localPerson.principal } as OpenQuestion;
      engine.events.emit({ kind: 'question', question, isOpen: true });
      expect((await read(cursor, 'other')).items).toEqual([]);
      expect((await read(cursor)).items).toHaveLength(1);
    }));
});
