import { expect, test } from 'vitest';
import { placeOfTarget } from './place.ts';
import type { TerminalShown } from './shapes.ts';
import {
  tilesByUrgency,
  countOf,
  filterOf,
  groupsOf,
  matches,
  searchOf,
  type TileItem,
  tileFact,
  tileState,
  tileWord,
} from './tiles.ts';

const terminal = (more: Partial<TerminalShown> = {}): TerminalShown => ({
  terminal: 't_1',
  session: 1,
  target: 'local',
  program: '/bin/bash',
  state: 'idle',
  shown: 'idle',
  since: 0,
  title: '',
  alternate: false,
  cols: 80,
  rows: 24,
  ...more,
});
const item = (more: Partial<TerminalShown> = {}, machine = 'atlas'): TileItem => {
  const one = terminal(more);
  return { terminal: one, state: one.shown, machine };
};

test('the words of the seven states', () => {
  const word = (more: Partial<TerminalShown>, state = more.shown ?? 'idle', now = 252_000): string =>
    tileWord(terminal(more), state, now);
  expect(word({ shown: 'needs_you' })).toBe('Needs you');
  expect(word({ shown: 'lost' })).toBe('Lost · 4 min ago');
  expect(tileWord(terminal(), 'paused', 360_000)).toBe('Paused · 6 min');
  expect(word({ shown: 'working', state: 'running', block: { id: 1, startedAt: 0 } })).toBe('Working · 4:12');
  expect(word({ shown: 'working', state: 'starting' })).toBe('Starting');
  expect(word({ shown: 'failed', block: { id: 1, exitCode: 1 } })).toBe('Failed · exit 1');
  expect(word({ shown: 'failed', block: { id: 1, exitCode: 137 } })).toBe('Failed · SIGKILL');
  expect(word({ shown: 'done', exitCode: 0 })).toBe('Done · exit 0');
  expect(word({ shown: 'idle' }, 'idle', 26 * 60_000)).toBe('Idle · 26 min');
});

test('done and failed turn to idle once looked at, or after 30 minutes; what has ended keeps its word', () => {
  const failed = terminal({ shown: 'failed', block: { id: 1, exitCode: 1, startedAt: 0, endedAt: 1000 } });
  expect(tileState(failed, 2000, undefined)).toBe('failed');
  expect(tileState(failed, 2000, 900)).toBe('failed');
  expect(tileState(failed, 2000, 1500)).toBe('idle');
  expect(tileState(failed, 31 * 60_000, undefined)).toBe('idle');
  expect(tileState({ ...failed, exitCode: 1 }, 31 * 60_000, 1500)).toBe('failed');
  expect(tileState(terminal({ shown: 'needs_you' }), 1e9, 1e9)).toBe('needs_you');
});

test('order: needs you, failed, working, paused, done, idle, lost; then the last change', () => {
  const states = ['lost', 'idle', 'done', 'paused', 'working', 'failed', 'needs_you'] as const;
  const items = states.map((state, at) => ({ ...item({ session: at }), state }));
  expect(items.toSorted(tilesByUrgency).map(({ state }) => state)).toEqual([
    'needs_you',
    'failed',
    'working',
    'paused',
    'done',
    'idle',
    'lost',
  ]);
  const older = item({ terminal: 'old', since: 1 });
  expect(
    [older, item({ terminal: 'new', since: 2 })].toSorted(tilesByUrgency).map((one) => one.terminal.terminal),
  ).toEqual(['new', 'old']);
});

test('filters stand in the address, and unknown ones mean nothing', () => {
  const filter = filterOf('?show=failed&machine=db-1&agent=Codex&as=list&find=web');
  expect(filter).toEqual({ show: 'failed', machine: 'db-1', agent: 'Codex', text: 'web', isList: true });
  expect(filterOf(searchOf(filter))).toEqual(filter);
  expect(filterOf('?show=nonsense').show).toBe('all');
  expect(searchOf(filterOf(''))).toBe('');
  const mine = item({ keyboard: { by: 'you', kind: 'person', isTaken: true, since: 0 } });
  const failed = item({ shown: 'failed', name: 'web tests' }, 'db-1');
  expect(matches(mine, filterOf('?show=mine'))).toBe(true);
  expect(matches(failed, filterOf('?show=mine'))).toBe(false);
  expect(matches(failed, filterOf('?machine=db-1&find=WEB'))).toBe(true);
  expect(matches(failed, filterOf('?machine=atlas'))).toBe(false);
  expect(countOf([mine, failed], 'failed')).toBe(1);
  expect(groupsOf([mine, failed, mine]).map(({ machine, items }) => [machine, items.length])).toEqual([
    ['atlas', 2],
    ['db-1', 1],
  ]);
});

test('one fact in the foot', () => {
  const block = { id: 1, exitCode: 1, startedAt: 0, endedAt: 38_000 };
  expect(tileFact(terminal({ block }), 'failed', 0)).toBe('exit 1 after 0:38');
  expect(tileFact(terminal({ block: { ...block, exitCode: 0 } }), 'done', 158_000)).toBe('0:38, 2 min ago');
  expect(tileFact(terminal(), 'idle', 0)).toBe('80×24');
  expect(tileFact(terminal({ alternate: true }), 'working', 0)).toBe('full screen');
});

test.each([
  ['local', { machine: 'atlas' }],
  ['ssh:deploy@db-1.internal', { machine: 'db-1.internal', address: 'ssh deploy@db-1.internal' }],
  ['ssh:deploy@db-1:2222', { machine: 'db-1', address: 'ssh deploy@db-1:2222' }],
  ['ssh:[::1]:22', { machine: '::1', address: 'ssh [::1]:22' }],
  ['serial:/dev/ttyUSB0', { machine: 'atlas', address: 'serial /dev/ttyUSB0' }],
])('where %s is', (target, place) => {
  expect(placeOfTarget(target, 'atlas')).toEqual(place);
});
