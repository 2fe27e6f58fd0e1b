import { expect, test } from 'vitest';
import { rowAt } from './one-clock.ts';
import type { CallShown } from './shapes.ts';

const row = (id: string, recording?: { id: string; t: number }): CallShown => ({
  id,
  at: 0,
  who: { kind: 'agent', name: 'x' },
  op: 'terminal.run',
  access: 'control',
  isCommand: true,
  phase: 'executed',
  preview: '',
  bytes: 0,
  ms: 1,
  ...(recording && { recording }),
});

test('a moment belongs to the last call that had begun by then, of this recording only (R-HUB-085)', () => {
  const rows = [row('4', { id: 'b', t: 1 }), row('3', { id: 'a', t: 9 }), row('2', { id: 'a', t: 4 }), row('1')];
  const at = (t: number) => rowAt(rows, 'a', t)?.id;
  expect([at(3.9), at(4), at(8.9), at(9), at(100)]).toEqual([undefined, '2', '2', '3', '3']);
});
