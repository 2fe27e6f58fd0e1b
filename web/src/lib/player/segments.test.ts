import { expect, test } from 'vitest';
import { Segments } from './segments.ts';

/** A recording with an event at each tenth of a second, and a keyframe at each second. */
function recording(end: number) {
  const asked: string[] = [];
  const events = Array.from({ length: end * 10 }, (_, n): [number, string, string] => [(n + 1) / 10, 'o', `${n + 1} `]);
  const ask = async <Output>(op: string, input: object): Promise<Output> => {
    const { t = 0, from = 0, to = end } = input as { t?: number; from?: number; to?: number };
    asked.push(`${op} ${op === 'replay.seek' ? t : op === 'replay.range' ? `${from}-${to}` : ''}`.trim());
    if (op === 'replay.keys') {
      return { keys: Array.from({ length: end }, (_, n) => ({ t: n + 1, off: 100 * (n + 1) })) } as Output;
    }
    if (op === 'replay.seek') return { cols: 80, rows: 24, screen: `at ${t}` } as Output;
    return { events: events.filter(([at]) => at > from && at <= to), more: false, to } as Output;
  };
  return { asked, ask };
}

test('a stretch begins at a keyframe, holds what follows it, and is fetched once', async () => {
  const { asked, ask } = recording(5);
  const segments = new Segments('r', ask);
  await segments.load(5);
  const found = await segments.at(2.35);
  expect(found).toMatchObject({ from: 2, to: 3, screen: 'at 2' });
  expect(found.events.map(([t]) => t)).toEqual([2.1, 2.2, 2.3, 2.4, 2.5, 2.6, 2.7, 2.8, 2.9, 3]);
  expect(segments.ready(2.99)).toBe(found);
  expect(segments.ready(3)).toBeUndefined();
  await Promise.all([segments.at(2), segments.at(2.9)]);
  expect(asked.filter((one) => one === 'replay.seek 2')).toHaveLength(1);
  expect((await segments.after(found))?.from).toBe(3);
  expect(segments.momentOf(250)).toBe(2);
});

test('a stretch that could not be fetched is asked for again', async () => {
  const { ask } = recording(2);
  let isDown = true;
  const segments = new Segments('r', (op, input) =>
    isDown && op !== 'replay.keys' ? Promise.reject(new Error('down')) : ask(op, input),
  );
  await segments.load(2);
  await expect(segments.at(1)).rejects.toThrow('down');
  isDown = false;
  expect((await segments.at(1)).screen).toBe('at 1');
});

test('only so many stretches stay in memory', async () => {
  const { asked, ask } = recording(200);
  const segments = new Segments('r', ask);
  await segments.load(200);
  for (let t = 0; t < 200; t++) await segments.at(t);
  expect(segments.ready(0)).toBeUndefined();
  expect(segments.ready(199.5)).toBeDefined();
  asked.length = 0;
  await segments.at(0.5);
  expect(asked).toContain('replay.seek 0');
});
