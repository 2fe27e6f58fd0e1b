import { PassThrough } from 'node:stream';
import { expect, test, vi } from 'vitest';
import { type AttachedSession, type Tty, attachLoop } from '../../src/commands/person/attach-loop.ts';
import { FairleadError } from '../../src/contract/errors.ts';
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
};

/** A person at a terminal of another size, so that every call is made. */
function seat(): Tty {
  const stdout = Object.assign(new PassThrough().resume(), { columns: 100, rows: 30 });
  return { stdin: new PassThrough(), stdout } as unknown as Tty;
}

test('who sits in the default session stays in that shell, whichever 0 means by then', async () => {
  const asked: [string, unknown][] = [];
  const { stdin, stdout } = seat();
  const request: SocketClient['request'] = async (method, params) => {
    asked.push([method, (params as { session: unknown }).session]);
    if (method === 'attach.open') return opened;
    if (method !== 'attach.read') return {};
    if (!asked.some(([earlier]) => earlier === 'attach.write')) stdin.emit('data', Buffer.from('x'));
    else throw new FairleadError('terminal_not_found', 'There is no session first.');
    return { bytes: '', next: 0 };
  };
  expect(await attachLoop({ request } as SocketClient, opened, { stdin, stdout })).toBe('is gone');
  const methods = ['attach.resize', 'attach.open', 'attach.read', 'attach.write', 'attach.read', 'attach.resize'];
  expect(asked).toEqual(methods.map((method) => [method, 'first']));
});
