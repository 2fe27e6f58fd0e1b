import type { ServerContext } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { progressOf } from './progress.ts';

function listening() {
  const heard: unknown[] = [];
  const mcpReq = {
    _meta: { progressToken: 'p' },
    signal: new AbortController().signal,
    notify: async ({ params }: { params: unknown }) => void heard.push(params),
  };
  return { heard, ...progressOf({ mcpReq } as unknown as ServerContext) };
}

test('an amount is told as it is, with its total where that is known', () => {
  const { heard, report } = listening();
  report('0 bytes', { done: 0 });
  report('7 bytes', { done: 7, total: 10 });
  expect(heard).toEqual([
    { progressToken: 'p', progress: 0, message: '0 bytes' },
    { progressToken: 'p', progress: 7, total: 10, message: '7 bytes' },
  ]);
});

test('every report is further than the one before, though nothing new came', () => {
  const { heard, report } = listening();
  for (const done of [5, 5, 5, 6]) report('', { done });
  report('no amount');
  const told = (heard as { progress: number }[]).map(({ progress }) => progress);
  expect(told.map(Math.floor)).toEqual([5, 5, 5, 6, 7]);
  expect(new Set(told).size).toBe(told.length);
  expect(told).toEqual(told.toSorted((a, b) => a - b));
});
