import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { localPerson } from '../../../src/engine/call/principal.ts';
import { watchEngine } from '../../../src/engine/events/watch.ts';
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
    expect((await watching.next()).value).toEqual({ kind: 'focus' });
    expect((await stranger.next()).value).toEqual({ kind: 'focus' });
    const rest = [watching.next(), stranger.next()];
    leaving.abort();
    await Promise.all(rest);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});
