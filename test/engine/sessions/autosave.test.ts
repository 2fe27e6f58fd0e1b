import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { autosave } from '../../../src/engine/sessions/autosave.ts';
import type { Engine } from '../../../src/engine/engine.ts';
import { instanceNames } from '../../../src/engine/instances/names.ts';
import { type Workspace, Workspaces } from '../../../src/engine/sessions/workspaces.ts';
import { EchoChannel } from '../../support/echo-channel.ts';
import { engineWith, limit } from '../../support/engine.ts';
import { ManualClock } from '../../support/clocks/manual.ts';

const size = { cols: 80, rows: 24 };
const [instance = ''] = instanceNames();
const before = (name: string, title: string): Workspace => ({
  name,
  sessions: [{ id: 7, title, cwd: '/' }],
  saved_at: '2026-01-01T00:00:00.000Z',
});
let folder: string;
let clock: ManualClock;
let store: Workspaces;
let logged: string[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fl-autosave-'));
  mkdirSync(join(folder, 'workspaces'));
  clock = new ManualClock();
  store = new Workspaces(folder);
  logged = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const file = (name: string): string => join(folder, 'workspaces', name);
const start = (redact = (text: string): string => text.replaceAll('hunter2', '***')): Engine =>
  engineWith(folder, { echo: async () => ({ channel: new EchoChannel(size), program: 'echo' }) }, { clock, redact });
const follow = (engine: Engine): number =>
  autosave(engine, store, { instance, log: (line) => logged.push(line), outlives: () => true });
const savedIds = (): number[] | undefined => store.find('_last')?.sessions.map(({ id }) => id);

describe('R-RPC-112 autosave in trouble', () => {
  test('a damaged _lost is replaced, and the version before it stays', async () => {
    store.save(before('_lost', 'older'));
    store.save(before('_lost', 'old'));
    writeFileSync(file('_lost.json'), '');
    store.save(before('_last', 'new'));
    await using engine = start();
    expect([follow(engine), logged]).toEqual([1, []]);
    expect(store.find('_lost')).toEqual(before('_lost', 'new'));
    expect(readFileSync(file('_lost.json.bak'), 'utf8')).toContain('older');
  });

  test('a _lost that cannot be written is told, and the open sessions are saved', async () => {
    store.save(before('_last', 'new'));
    mkdirSync(file('_lost.json'));
    await using engine = start();
    expect(follow(engine)).toBe(0);
    expect(logged).toEqual([expect.stringContaining('sessions of the previous server cannot be saved: EISDIR')]);
    await engine.open({ target: 'echo', size }, limit());
    clock.advance(2000);
    expect(savedIds()).toEqual([0]);
  });

  test('a damaged _last is replaced', async () => {
    writeFileSync(file('_last.json'), '');
    await using engine = start();
    follow(engine);
    await engine.open({ target: 'echo', size }, limit());
    clock.advance(2000);
    expect([savedIds(), logged]).toEqual([[0], []]);
  });

  test('what could not be saved is tried again at the next change, and told once until it could', async () => {
    await using engine = start();
    follow(engine);
    const terminal = await engine.open({ target: 'echo', size }, limit());
    const full = vi.spyOn(store, 'replace').mockImplementation(() => {
      throw new Error('ENOSPC');
    });
    clock.advance(2000);
    // A change that leaves the list as it was.
    terminal.screen.resized.emit(size);
    clock.advance(2000);
    expect([full.mock.calls.length, logged.length]).toEqual([2, 1]);
    full.mockRestore();
    terminal.screen.resized.emit(size);
    clock.advance(2000);
    expect(savedIds()).toEqual([0]);
    vi.spyOn(store, 'replace').mockImplementationOnce(() => {
      throw new Error('ENOSPC');
    });
    await engine.open({ target: 'echo', size }, limit());
    clock.advance(2000);
    expect(logged).toHaveLength(2);
  });

  test('terminals that end with the server do not change what was saved at its end', async () => {
    const engine = start();
    follow(engine);
    await engine.open({ target: 'echo', size }, limit());
    await engine[Symbol.asyncDispose]();
    clock.advance(2000);
    expect(savedIds()).toEqual([0]);
  });

  test('secrets are not written down: titles are masked, a command with one is left out', async () => {
    await using engine = start();
    follow(engine);
    const launches = [
      { command: 'mysql -phunter2', title: 'mysql -phunter2' },
      { command: 'top', title: 'load' },
    ];
    for (const launch of launches) await engine.open({ target: 'echo', size, launch }, limit());
    clock.advance(2000);
    const [secret, plain] = store.load('_last').sessions;
    expect(secret).toMatchObject({ title: 'mysql -p***', given_title: 'mysql -p***' });
    expect(secret).not.toHaveProperty('command');
    expect(plain).toMatchObject({ title: 'load', given_title: 'load', command: 'top' });
    expect(readFileSync(file('_last.json'), 'utf8')).not.toContain('hunter2');
  });

  test('where secrets cannot be masked nothing is written, and nothing ends', async () => {
    const noKey = (): never => {
      throw new Error('no key');
    };
    await using engine = start(noKey);
    follow(engine);
    await engine.open({ target: 'echo', size }, limit());
    clock.advance(2000);
    expect([savedIds(), logged]).toEqual([undefined, ['The open sessions cannot be saved: no key']]);
  });
});
