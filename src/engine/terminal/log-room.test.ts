import { expect, test } from 'vitest';
import { logCapacity, mostExtraBytes } from './log-room.ts';
import { OutputLog, usualCapacity } from './output-log.ts';

const size = { cols: 120, rows: 30 };

test('R-RPC-143: ten thousand rows fit the usual log; more rows get a larger one', () => {
  expect(logCapacity(10_000, size, [])).toBe(usualCapacity);
  expect(logCapacity(100, size, [])).toBe(usualCapacity);
  expect(logCapacity(50_000, size, [])).toBe(5 * usualCapacity);
  expect(logCapacity(10_000, { cols: 240, rows: 30 }, [])).toBe(2 * usualCapacity);
});

test('R-RPC-143: rows × columns over all sessions are capped, and no session gets less than the usual', () => {
  const greedy = logCapacity(999_999_999, size, []);
  expect(greedy).toBe(usualCapacity + mostExtraBytes);
  expect(logCapacity(999_999_999, size, [{ log: { capacity: greedy } }])).toBe(usualCapacity);
  expect(logCapacity(999_999_999, size, [{ log: { capacity: greedy - 1000 } }])).toBe(usualCapacity + 1000);
});

test('a log that is widened keeps more from then on', () => {
  const log = new OutputLog({ capacity: 1000 });
  log.append(Buffer.alloc(1500, 'a'));
  log.widen(3000);
  log.append(Buffer.alloc(1500, 'b'));
  expect(log.start).toBe(500);
  expect(Buffer.from(log.read(0).bytes).toString()).toBe('a'.repeat(1000) + 'b'.repeat(1500));
  log.widen(10);
  expect(log.capacity).toBe(3000);
});
