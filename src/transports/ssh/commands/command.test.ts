import { expect, test } from 'vitest';
import { FakeCommand, FakeSession } from '../../../../test/support/fake-command.ts';
import { ManualClock } from '../../../../test/support/clocks/manual.ts';
import { SshCommand, type CommandRequest } from './command.ts';

function start(changes: Partial<CommandRequest> = {}) {
  const clock = new ManualClock();
  const far = new FakeCommand();
  const request = { command: 'work', timeoutMs: 60_000, pty: false, releaseWhenNoSubs: false, graceMs: 0, ...changes };
  const { session } = new FakeSession();
  const command = new SshCommand({ id: 'c1', number: 0, session, request }, far, { clock, bufferBytes: 4096 });
  return { clock, far, command };
}

/** Everything that can happen without time passing has happened. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const printed = ({ output }: SshCommand): string => Buffer.from(output.stdout.read(0).bytes).toString();

test('it runs with an empty stdin, keeps what it printed, and ends with its exit code', async () => {
  const { far, command, clock } = start();
  expect(far.done).toEqual(['eof']);
  expect([command.status, command.end]).toEqual(['running', undefined]);
  far.print('hello');
  far.print('oops', 'stderr');
  far.finish({ by: 'exit', code: 3 });
  expect(await command.whenEnded).toEqual({ status: 'completed', exitCode: 3 });
  expect(printed(command)).toBe('hello');
  expect(command.output.allocated).toBe(9);
  expect(clock.timers).toBe(0);
});

test.each([
  [
    { by: 'signal', signal: 'KILL' } as const,
    { status: 'failed', exitCode: 137, error: 'The command was killed by signal KILL.' },
  ],
  [
    { by: 'signal', signal: 'SEGV' } as const,
    { status: 'failed', exitCode: 139, error: 'The command was killed by signal SEGV.' },
  ],
  [{ by: 'signal', signal: 'ODD@x' } as const, { status: 'failed', error: 'The command was killed by signal ODD@x.' }],
  [{ by: 'lost', reason: 'The link broke.' } as const, { status: 'failed', error: 'The link broke.' }],
])('an end of another kind is a failure that says how: %o', async (how, end) => {
  const { far, command } = start();
  far.finish(how);
  expect(await command.whenEnded).toEqual(end);
});

test('timeout (7): TERM, two seconds later KILL and close; what was printed stays', async () => {
  const { clock, far, command } = start({ timeoutMs: 5000 });
  far.print('so far');
  await settled();
  clock.advance(4999);
  expect(far.done).toEqual(['eof']);
  clock.advance(1);
  expect(far.done).toEqual(['eof', 'TERM']);
  clock.advance(1999);
  await settled();
  expect([command.status, far.done]).toEqual(['running', ['eof', 'TERM']]);
  clock.advance(1);
  await settled();
  expect(far.done).toEqual(['eof', 'TERM', 'KILL', 'close']);
  expect(await command.whenEnded).toEqual({ status: 'timeout' });
  expect(printed(command)).toBe('so far');
});

test('a command that heeds TERM is not killed', async () => {
  const { clock, far, command } = start({ timeoutMs: 10 });
  clock.advance(10);
  far.finish({ by: 'signal', signal: 'TERM' });
  expect(await command.whenEnded).toEqual({ status: 'timeout' });
  clock.advance(10_000);
  await settled();
  expect(far.done).toEqual(['eof', 'TERM']);
  expect(clock.timers).toBe(0);
});

test('cancel (7): INT, two seconds later KILL and close; a second cancel waits for the first', async () => {
  const { clock, far, command } = start();
  const both = Promise.all([command.cancel(), command.cancel()]);
  await settled();
  expect(far.done).toEqual(['eof', 'INT']);
  clock.advance(2000);
  expect(await both).toEqual([{ status: 'cancelled' }, { status: 'cancelled' }]);
  expect(far.done).toEqual(['eof', 'INT', 'KILL', 'close']);
});

test('cancel on a terminal presses Ctrl-C, and stdin stays open for it', async () => {
  const { far, command } = start({ pty: true });
  const cancelled = command.cancel();
  expect(far.done).toEqual(['write 03']);
  far.finish({ by: 'exit', code: 130 });
  expect(await cancelled).toEqual({ status: 'cancelled' });
});

test('what is being ended by its timeout is not cancelled, and what has ended stays as it is', async () => {
  const { clock, far, command } = start({ timeoutMs: 10 });
  clock.advance(10);
  const cancelled = command.cancel();
  far.finish();
  expect(await cancelled).toEqual({ status: 'timeout' });
  expect(await command.cancel()).toEqual({ status: 'timeout' });
  expect(far.done).toEqual(['eof', 'TERM']);
});

test('its session is disconnected: cancelled, with less patience', async () => {
  const { clock, far, command } = start();
  const gone = command.sessionEnded({ by: 'disconnect' });
  expect(far.done).toEqual(['eof', 'INT']);
  clock.advance(300);
  await gone;
  expect(far.done).toEqual(['eof', 'INT', 'KILL', 'close']);
  expect(await command.whenEnded).toEqual({ status: 'cancelled' });
});

test('its session is lost: what was under way still counts, and the reason is told', async () => {
  const { clock, far, command } = start();
  far.print('last words');
  const gone = command.sessionEnded({ by: 'lost', reason: 'The server stopped answering.' });
  await settled();
  clock.advance(300);
  await gone;
  expect(command.end).toEqual({ status: 'failed', error: 'The server stopped answering.' });
  expect(printed(command)).toBe('last words');
  expect(far.done).toEqual(['eof']);
});

test('while held it takes no more output; what is being ended waits for no reader (remote 4.3)', async () => {
  const { far, command } = start();
  using _held = command.hold();
  far.print('one ');
  await settled();
  far.print('two');
  await settled();
  expect(printed(command)).toBe('one ');
  const cancelled = command.cancel();
  far.finish({ by: 'signal', signal: 'INT' });
  expect(await cancelled).toEqual({ status: 'cancelled' });
  expect(printed(command)).toBe('one two');
});
