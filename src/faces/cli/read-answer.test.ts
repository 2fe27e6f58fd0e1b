import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { readHidden } from './read-answer.ts';

/** A keyboard and a screen that remember in which order things happened. */
function terminal() {
  const events: string[] = [];
  const stdin = Object.assign(new PassThrough(), {
    setRawMode: (on: boolean) => void events.push(on ? 'raw' : 'cooked'),
  }) as unknown as NodeJS.ReadStream & PassThrough;
  const stdout = { write: (text: string) => events.push(`shows ${text}`) } as unknown as NodeJS.WriteStream;
  return { events, stdin, stdout };
}

test('the echo is off before the question is seen, and on again after the answer', async () => {
  const { events, stdin, stdout } = terminal();
  const read = readHidden(stdin, stdout, 'Password:');
  stdin.write('secret\r');
  expect((await read).toString()).toBe('secret');
  expect(events).toEqual(['raw', 'shows Password:', 'cooked', 'shows \n']);
});

test('pieces that come at once, and end within a character, are one answer', async () => {
  const { stdin, stdout } = terminal();
  const read = readHidden(stdin, stdout, '');
  const bytes = Buffer.from('wrong\x15corréct-🔑ü\x7f\r');
  for (const byte of bytes) stdin.emit('data', Buffer.from([byte]));
  expect((await read).toString()).toBe('corréct-🔑');
});

test.each([
  ['Ctrl+C', (stdin: PassThrough) => stdin.write('abc\x03')],
  ['Ctrl+D', (stdin: PassThrough) => stdin.write('abc\x04')],
  ['the end of the terminal', (stdin: PassThrough) => stdin.end('abc')],
])('%s: nothing is answered', async (_, give) => {
  const { events, stdin, stdout } = terminal();
  const read = readHidden(stdin, stdout, '');
  give(stdin);
  await expect(read).rejects.toThrow('Nothing was answered.');
  expect(events).toContain('cooked');
});
