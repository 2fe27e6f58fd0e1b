import { expect, test } from 'vitest';
import { glyphOf, resultOf } from './call-words.ts';
import type { CallShown } from './shapes.ts';

const call: CallShown = {
  id: '1',
  at: Date.parse('2026-01-02T10:00:00Z'),
  who: { kind: 'agent', name: 'x' },
  op: 'terminal.run',
  access: 'control',
  isCommand: true,
  phase: 'executed',
  preview: 'ls',
  bytes: 1130,
  ms: 400,
};

test.each<[Partial<CallShown>, string, string]>([
  [{ exit: 0 }, 'tick', 'exit 0 · 0.4 s'],
  [{ exit: 1, ms: 12 }, 'octagon', 'exit 1 · 12 ms'],
  [{ access: 'observe', ms: 3 }, 'dot', '1.1 kB · 3 ms'],
  [{ phase: 'received' }, 'dot', ''],
  [{ phase: 'dropped', ended: 'person' }, 'dash', 'dropped: person'],
  [{ phase: 'failed', code: 'not_found' }, 'octagon', 'not found'],
  [{ phase: 'denied', code: 'not_permitted' }, 'slash', 'denied'],
  [{ phase: 'replayed', exit: 0 }, 'again', 'replayed · exit 0 · 0.4 s'],
  [{ phase: 'unknown' }, 'triangle', 'nobody knows whether it ran'],
  [{ who: { kind: 'person', name: 'p' } }, 'person', '0.4 s'],
])('a row for %j is %s and says “%s” (R-HUB-080)', (change, glyph, words) => {
  const row = { ...call, ...change };
  expect([glyphOf(row), resultOf(row)]).toEqual([glyph, words]);
});
