import { expect, test } from 'vitest';
import { FakeCommand, FakeSession } from '../../../../test/support/fake-command.ts';
import { ManualClock } from '../../../../test/support/clocks/manual.ts';
import { FairleadError } from '../../../contract/errors.ts';
import type { SshCommand } from './command.ts';
import { Commands } from './commands.ts';

const request = { command: 'work', timeoutMs: 600_000, pty: false, releaseWhenNoSubs: true, graceMs: 5 };
const never = new AbortController().signal;
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function make(keptBytes?: number) {
  const clock = new ManualClock();
  const commands = new Commands({ clock, settings: { commandCleanupMs: 60_000, commandBufferBytes: 64 }, keptBytes });
  const started = async (on: FakeSession): Promise<{ far: FakeCommand; command: SshCommand }> => {
    const far = new FakeCommand();
    on.next = async () => far;
    return { far, command: await commands.start(on.session, request, never) };
  };
  const ended = async (on: FakeSession, print = ''): Promise<string> => {
    const { far, command } = await started(on);
    if (print !== '') far.print(print);
    far.finish();
    await command.whenEnded;
    await settled();
    return command.id;
  };
  return { clock, commands, started, ended };
}

const codeOf = (act: () => unknown): unknown => {
  try {
    act();
  } catch (error) {
    return error instanceof FairleadError ? error.data : error;
  }
  return undefined;
};

test('a command is known by an id that sorts by time, and keeps what its creator wants of it', async () => {
  const { commands, started } = make();
  const { command } = await started(new FakeSession());
  expect(command.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
  expect(commands.find(command.id, 'me')).toBe(command);
  expect(command.request).toMatchObject({ releaseWhenNoSubs: true, graceMs: 5 });
});

test('an ended command is kept for a while after its end or its last reading (6)', async () => {
  const { clock, commands, ended } = make();
  const id = await ended(new FakeSession());
  clock.advance(59_999);
  expect(commands.find(id, 'me').status).toBe('completed');
  clock.advance(59_999);
  expect(commands.all('me')).toHaveLength(1);
  clock.advance(1);
  expect(commands.all('me')).toEqual([]);
  expect(codeOf(() => commands.find(id, 'me'))).toEqual({ wire: 'COMMAND_NOT_FOUND', context: id });
  expect(clock.timers).toBe(0);
});

test('a running command is never reaped', async () => {
  const { clock, commands, started } = make();
  const { command } = await started(new FakeSession());
  clock.advance(599_999);
  expect(commands.find(command.id, 'me')).toBe(command);
});

test('at most a thousand are kept, and what is read stays longest', async () => {
  const { commands, ended } = make();
  const session = new FakeSession();
  const ids: string[] = [];
  for (let count = 0; count < 1000; count++) ids.push(await ended(session));
  commands.find(ids[0] as string, 'me');
  ids.push(await ended(session));
  const kept = new Set(commands.all('me').map(({ id }) => id));
  expect(kept.size).toBe(1000);
  expect([kept.has(ids[0] as string), kept.has(ids[1] as string)]).toEqual([true, false]);
});

test('what they keep has a bound together', async () => {
  const { commands, ended } = make(100);
  const session = new FakeSession();
  const large = 'x'.repeat(40);
  const ids = [await ended(session, large), await ended(session, large), await ended(session, large)];
  expect(commands.all('me').map(({ id }) => id)).toEqual(ids.slice(1));
});

test('who keeps many, or much, pushes out nobody else (10.30)', async () => {
  const { commands, ended } = make(1_000);
  const mine = await ended(new FakeSession('s1', 'me'), 'x'.repeat(40));
  const greedy = new FakeSession('s2', 'them');
  const theirs = async (): Promise<number> => commands.all('them').length;
  for (let count = 0; count < 1_001; count++) await ended(greedy);
  expect(await theirs()).toBe(1_000);
  for (let count = 0; count < 30; count++) await ended(greedy, 'x'.repeat(40));
  expect(commands.find(mine, 'me').id).toBe(mine);
  expect(await theirs()).toBeLessThan(1_000);
});

test('others do not know of a command, and are told only of their own (10.30)', async () => {
  const { commands, started } = make();
  const mine = await started(new FakeSession('s1', 'me'));
  const theirs = await started(new FakeSession('s2', 'them'));
  expect(commands.all('me')).toEqual([mine.command]);
  expect(codeOf(() => commands.find(theirs.command.id, 'me'))).toEqual({
    wire: 'COMMAND_NOT_FOUND',
    context: theirs.command.id,
    closest: [mine.command.id],
  });
});

test('a hundred run on a session at once, counting those being started; the next is refused (7)', async () => {
  const { commands, started } = make();
  const session = new FakeSession();
  const first = await started(session);
  for (let count = 1; count < 99; count++) await started(session);
  session.next = () => new Promise(() => {});
  commands.start(session.session, request, never).catch(() => {});
  const refused = await commands.start(session.session, request, never).catch((error: unknown) => error);
  expect((refused as FairleadError).data).toEqual({ wire: 'MAX_COMMANDS_EXCEEDED', context: 'limit=100' });
  first.far.finish();
  await settled();
  await started(session);
  await started(new FakeSession('s2'));
});

test('what could not be started leaves nothing behind', async () => {
  const { commands } = make();
  const session = new FakeSession();
  await expect(commands.start(session.session, request, never)).rejects.toThrow('nothing to start');
  expect([session.children.size, commands.all('me')]).toEqual([0, []]);
});
