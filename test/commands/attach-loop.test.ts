import { PassThrough } from 'node:stream';
import { expect, test, vi } from 'vitest';
import { type AttachedSession, type Tty, attachLoop } from '../../src/commands/person/attach-loop.ts';
import { operationId } from '../../src/engine/call/operation.ts';
import type { SocketClient } from '../../src/faces/socket/client.ts';

/** The terminal these tests are run from is left as it is. */
vi.mock(import('../../src/faces/cli/raw-terminal.ts'), () => ({ rawTerminal: () => ({ [Symbol.dispose]() {} }) }));

const opened: AttachedSession = {
  session: 0,
  terminal: 'first',
  name: 'bash',
  screen: '',
  from: 0,
  cols: 80,
  rows: 24,
  top: 0,
  epoch: 0,
  event: 0,
};

/** A person at a terminal of another size, so that every call is made. */
function seat(): Tty {
  const stdout = Object.assign(new PassThrough().resume(), { columns: 100, rows: 30 });
  return { stdin: new PassThrough(), stdout } as unknown as Tty;
}

test('a person attached to the default session stays in that shell, whichever 0 means by then', async () => {
  const asked: [string, unknown][] = [];
  const { stdin, stdout } = seat();
  const note = (op: Parameters<typeof operationId>[0], input: object): void =>
    void asked.push([operationId(op), (input as { session: unknown }).session]);
  const client = {
    async call(op: Parameters<typeof operationId>[0], input: object) {
      note(op, input);
      return opened;
    },
    async *stream(op: Parameters<typeof operationId>[0], input: object) {
      note(op, input);
      stdin.emit('data', Buffer.from('x'));
      yield { bytes: '', focused: false };
      yield { bytes: '', focused: false, ended: 'is gone' };
    },
  } as unknown as SocketClient;
  expect(await attachLoop(client, opened, { stdin, stdout })).toBe('is gone');
  const methods = ['resize', 'see', 'follow', 'type', 'resize'];
  expect(asked).toEqual(methods.map((method) => [`person.${method}`, 'first']));
});

test('keys go one request at a time, in order, with all that was typed meanwhile', async () => {
  const { stdin, stdout } = seat();
  const typed: string[] = [];
  const client = {
    async call(op: Parameters<typeof operationId>[0], _input: object, _signal: AbortSignal, body?: Buffer) {
      if (operationId(op) !== 'person.type') return opened;
      typed.push(body?.toString() ?? '');
      await new Promise((resolve) => setImmediate(resolve));
    },
    async *stream() {
      for (const key of 'echo') stdin.emit('data', Buffer.from(key));
      yield { bytes: '', focused: false };
      stdin.emit('data', Buffer.from(' hi\x1dnot sent'));
    },
  } as unknown as SocketClient;
  expect(await attachLoop(client, opened, { stdin, stdout })).toBeUndefined();
  expect(typed).toEqual(['e', 'cho hi']);
});
