import { expect, test } from 'vitest';
import type { ReplayBlock, ReplayOutline } from '../replay-shapes.ts';
import { blockAt, labelsOf, nextStart, previousStart, secondsOf, stretchesOf } from './scrub.ts';

const block = (n: number, t: number, endT?: number, exitCode?: number): ReplayBlock => ({
  n,
  t,
  at: 1000 * t,
  ...(endT !== undefined && { endT, endAt: 1000 * endT }),
  ...(exitCode !== undefined && { exitCode }),
});

const outline = (parts: Partial<ReplayOutline>): ReplayOutline => ({
  recording: 'r',
  kind: 'cast',
  state: 'finished',
  recovered: false,
  startedAt: 0,
  playMs: 10_000,
  cols: 80,
  rows: 24,
  blocks: [],
  busy: [],
  waits: [],
  people: [],
  masked: 0,
  ...parts,
});

test('one part for each command by its exit, amber above it while it waited; without marks, what was printed', () => {
  const blocks = [block(1, 0, 1, 0), block(2, 2, 3, 2), block(3, 4, 5), block(4, 6)];
  expect(stretchesOf(outline({ blocks, waits: [[2.2, 2.8]] }))).toEqual([
    { t: 0, endT: 1, look: 'ok' },
    { t: 2, endT: 3, look: 'bad' },
    { t: 4, endT: 5, look: 'plain' },
    { t: 6, endT: 10, look: 'work' },
    { t: 2.2, endT: 2.8, look: 'need' },
  ]);
  expect(stretchesOf(outline({ busy: [[1, 2]] }))).toEqual([{ t: 1, endT: 2, look: 'plain' }]);
});

test('back leads to the start of this command first, then to the one before', () => {
  const blocks = [block(1, 1, 2), block(2, 4, 5), block(3, 8, 9)];
  expect(blockAt(blocks, 0.5)).toBeUndefined();
  expect(blockAt(blocks, 4.5)?.n).toBe(2);
  expect(blockAt(blocks, 6)?.n).toBe(2);
  expect(previousStart(blocks, 6)).toBe(4);
  expect(previousStart(blocks, 4)).toBe(1);
  expect(previousStart(blocks, 1)).toBe(0);
  expect(nextStart(blocks, 4, 10)).toBe(8);
  expect(nextStart(blocks, 8, 10)).toBe(10);
});

test('labels leave room for each other', () => {
  const blocks = Array.from({ length: 100 }, (_, n) => block(n + 1, n / 10));
  const labels = labelsOf(outline({ blocks, endedAt: 10_000 }), 860);
  expect(labels[0]?.t).toBe(0);
  expect(labels.at(-1)?.t).toBe(10);
  for (const [index, { t }] of labels.slice(1).entries()) expect(t - (labels[index]?.t ?? 0)).toBeGreaterThanOrEqual(1);
});

test('moments are read as people write them', () => {
  expect(secondsOf('1:51')).toBe(111);
  expect(secondsOf(' 1:00:05 ')).toBe(3605);
  expect(secondsOf('7.5')).toBe(7.5);
  for (const bad of ['', 'x', '1:', '-1', '1:2:3:4']) expect(secondsOf(bad)).toBeUndefined();
});
