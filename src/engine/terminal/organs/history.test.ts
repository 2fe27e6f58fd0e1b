import { expect, test } from 'vitest';
import { ManualClock } from '../../../../test/support/clocks/manual.ts';
import { OutputLog } from '../output-log.ts';
import { TerminalHistory } from './history.ts';

function history() {
  const clock = new ManualClock(1_000_000);
  const log = new OutputLog({ capacity: 1000 });
  return { clock, log, history: new TerminalHistory({ clock, log }) };
}

const agent = { by: 'claude', kind: 'agent', secret: false } as const;
const person = { by: 'person', kind: 'person', secret: false } as const;

test('R-HUB-087: input is an event with its offset, who, when, and whether it was secret', () => {
  const { clock, log, history: of } = history();
  log.append(Buffer.from('$ '));
  of.type({ ...agent, bytes: 3 }, true);
  clock.advance(5);
  log.append(Buffer.from('ls\r\nPassword: '));
  of.type({ ...person, secret: true }, true);
  expect(of.typed).toMatchObject([
    { event: 'typed', off: 2, at: 1_000_000, bytes: 3, ...agent },
    { event: 'typed', off: 16, at: 1_000_005, ...person, secret: true },
  ]);
  expect(of.typed[1]).not.toHaveProperty('bytes');
});

test('keys that go on with a line are part of it; Enter, another sender, a secret, a pause or a command begin another', () => {
  const { clock, history: of } = history();
  for (const key of ['l', 's', '\r']) of.type({ ...person, bytes: 1 }, key === '\r');
  for (const _ of 'pw') of.type({ ...person, bytes: 1 }, false);
  of.type({ ...agent, bytes: 1 }, false);
  of.type({ ...agent, secret: true }, false);
  of.type({ ...agent, secret: true }, false);
  clock.advance(10_001);
  of.type({ ...agent, secret: true }, false);
  of.add({ event: 'prompt' });
  of.type({ ...agent, secret: true }, false);
  expect(of.typed.map(({ by, bytes }) => [by, bytes])).toEqual([
    ['person', 3],
    ['person', 2],
    ['claude', 1],
    ['claude', undefined],
    ['claude', undefined],
    ['claude', undefined],
  ]);
});

test('a reader gets what came after the number it has, up to the offset it has read to, and never out of order', () => {
  const { log, history: of } = history();
  const before = of.last;
  of.add({ event: 'prompt' });
  log.append(Buffer.from('0123456789'));
  of.type({ ...agent, bytes: 1 }, true);
  // A mark tells of something that began before it was complete.
  of.add({ event: 'prompt' }, 4);
  expect(of.since(before, 9).map(({ off }) => off)).toEqual([0]);
  const all = of.since(before, 10);
  expect(all.map(({ event, off }) => [event, off])).toEqual([
    ['prompt', 0],
    ['typed', 10],
    ['prompt', 10],
  ]);
  expect(of.since(all[1]?.n ?? 0, 10)).toEqual(all.slice(2));
  expect(of.since(of.last, 10)).toEqual([]);
});

test('a thousand events are kept; the next process knows who typed, and its numbers are higher', () => {
  const { clock, log, history: of } = history();
  for (let at = 0; at < 1200; at++) of.type({ ...agent, bytes: at }, true);
  expect(of.typed).toHaveLength(1000);
  expect(of.typed[0]?.bytes).toBe(200);
  expect(of.since(0, 0)).toHaveLength(1000);
  clock.advance(2000);
  const next = new TerminalHistory({ clock, log, saved: JSON.parse(JSON.stringify(of.save())) as typeof of.typed });
  expect(next.typed.map(({ bytes }) => bytes)).toEqual(Array.from({ length: 100 }, (_, at) => 1100 + at));
  expect(next.last).toBeGreaterThan(of.last);
});
