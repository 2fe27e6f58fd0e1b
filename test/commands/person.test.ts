import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { program, Served } from '../support/served.ts';

let served: Served;
beforeAll(async () => {
  served = await Served.start();
  await served.fairlead(['session', 'create', '--name', 'build']);
});
afterAll(async () => await served[Symbol.asyncDispose]());

const person = (...args: string[]): Promise<string> => served.fairlead(['person', ...args]);

/** The items of a stream, one JSON object a line. Leaving the scope interrupts it, as Ctrl+C does. */
function streamed(...args: string[]) {
  const env = { PATH: process.env['PATH'] ?? '', HOME: served.home };
  const child = spawn(process.execPath, [program, 'person', ...args, '--json'], { env });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    next: async (): Promise<Record<string, unknown>> =>
      JSON.parse(((await lines.next()) as { value: string }).value) as Record<string, unknown>,
    async [Symbol.asyncDispose](): Promise<void> {
      const over = once(child, 'exit');
      child.kill('SIGINT');
      expect(await over).toEqual([null, 'SIGINT']);
    },
  };
}

test('what waits, what a terminal is and its size, by number, id and name', async () => {
  expect(await person('waiting')).toBe('Nothing waits for you.\n');
  expect(await person('see', 'build')).toMatch(/^Session \d+: build, \d+x\d+\.\n$/);
  expect(await person('resize', 'build', '90', '20')).toContain('90x20');
  expect(await person('see', 'build')).toContain('90x20');
  expect(JSON.parse(await person('see', 'build', '--json'))).toMatchObject({ cols: 90, rows: 20 });
});

test('watch prints the whole state, then each change, until it is interrupted', async () => {
  await using watching = streamed('watch');
  const first = await watching.next();
  expect(first).toMatchObject({ kind: 'all' });
  const { terminals } = first as { terminals: { name?: string }[] };
  expect(terminals.map(({ name }) => name)).toContain('build');
  await served.fairlead(['session', 'create', '--name', 'other']);
  for (;;) {
    const { kind, terminal } = (await watching.next()) as { kind: string; terminal?: { name?: string } };
    if (kind === 'opened' && terminal?.name === 'other') break;
  }
});

test('follow prints the output of a terminal from its beginning on', async () => {
  await using following = streamed('follow', 'build', '--from', '0');
  await served.fairlead(['exec', 'send', '--session', 'build', 'echo fol""lowed\r']);
  let seen = '';
  while (!seen.includes('followed'))
    seen += Buffer.from(String((await following.next())['bytes']), 'base64').toString();
});

test('a secret is no argument, and bad input is told', async () => {
  expect(await person('answer', 'x')).toContain('There is no person answer.');
  expect(await person('type', 'build', 'x')).toContain('There is no person type.');
  expect(await person('see', 'nowhere')).toContain('nowhere');
  expect(await person('waiting', '--instance', 'none')).toContain('none');
  expect(await person('resize', 'build', '0', '0')).toMatch(/cols/);
  expect(await person('resize', 'build')).toMatch(/cols/);
});
