import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { StateFile } from './state-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'fairlead-state-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const schema = z.object({ word: z.string().default('none'), many: z.number().default(1) });

function open(name: string) {
  const time = { ms: 0 };
  const warnings: string[] = [];
  const clock = { now: () => time.ms, monotonic: () => time.ms, after: () => ({ [Symbol.dispose]() {} }) };
  const file = new StateFile({ path: join(folder, name), schema, clock, warn: (text) => warnings.push(text) });
  return { file, time, warnings, path: join(folder, name) };
}

test('a missing file means the defaults, a malformed one too, with one warning and untouched (R-RPC-017)', () => {
  const { file, path, time, warnings } = open('a.json');
  expect(file.get()).toEqual({ word: 'none', many: 1 });
  writeFileSync(path, '{ "word": ');
  time.ms += 2000;
  expect(file.get()).toEqual({ word: 'none', many: 1 });
  time.ms += 2000;
  file.get();
  expect(warnings).toHaveLength(1);
  expect(readFileSync(path, 'utf8')).toBe('{ "word": ');
});

test('a hand edit takes effect within two seconds (R-RPC-017)', () => {
  const { file, path, time } = open('b.json');
  expect(file.get().word).toBe('none');
  writeFileSync(path, '{ "word": "edited" }');
  time.ms += 2000;
  expect(file.get().word).toBe('edited');
});

test('a write is private, and one that changes nothing does not touch the file (R-RPC-004, R-RPC-017)', () => {
  const { file, path } = open('c.json');
  file.set({ word: 'x' });
  const before = statSync(path, { bigint: true });
  expect(Number(before.mode & 0o777n)).toBe(0o600);
  file.set({ word: 'x' });
  expect(statSync(path, { bigint: true }).mtimeNs).toBe(before.mtimeNs);
  file.set({ word: 'y' });
  expect(statSync(path, { bigint: true }).ino).not.toBe(before.ino);
  expect(file.get()).toEqual({ word: 'y', many: 1 });
});

test.each([
  ['{\n  "word": "x",\n}', 'line 3: '],
  ['{\n  "word": "x"', 'line 2: '],
  ['{ "word": 7 }', 'line 1: word: Invalid input: expected string, received number'],
])('a file that cannot be understood is not written over, and it is told where: %j (R-RPC-017)', (text, where) => {
  const { file, path } = open('d.json');
  file.set({ word: 'good' });
  writeFileSync(path, text);
  // At once: a typo of a moment ago counts.
  expect(() => file.set({ word: 'new' })).toThrow(`d.json cannot be understood (${where}`);
  expect(() => file.update((now) => ({ ...now, many: 2 }))).toThrow('so it is left as it is');
  expect(file.problem).toContain(where);
  expect(readFileSync(path, 'utf8')).toBe(text);
  rmSync(path);
  expect(file.update((now) => ({ ...now, many: 2 }))).toEqual({ word: 'none', many: 2 });
  expect(file.problem).toBeUndefined();
});

test('a change is told of once: a write, an edit by hand, a file that breaks or goes; a first look is none', () => {
  const { file, path, time } = open('told.json');
  const told: unknown[] = [];
  file.changed.on((change) => told.push(change));
  file.look();
  expect([told, file.lastChange]).toEqual([[], undefined]);
  time.ms = 10;
  file.set({ word: 'x' });
  file.set({ word: 'x' });
  file.look();
  expect(told).toEqual([{ at: 10, byHand: false }]);
  time.ms = 20;
  writeFileSync(path, '{ "word": ');
  file.look();
  time.ms = 30;
  rmSync(path);
  file.look();
  file.look();
  expect(told.slice(1)).toEqual([
    { at: 20, byHand: true },
    { at: 30, byHand: true },
  ]);
  expect(file.lastChange).toEqual({ at: 30, byHand: true });
});
