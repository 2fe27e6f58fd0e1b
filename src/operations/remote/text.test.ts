import fc from 'fast-check';
import { expect, test } from 'vitest';
import { byteSize, nonceOf, oneLine, type ReplyText, replyText, tailText, type ReplyFacts } from './text.ts';

/** Fences with a nonce that stays the same. */
const text = (output: ReplyFacts, reply: ReplyText): string =>
  replyText(output, reply).replaceAll(`[${nonceOf(output)}]`, '[a3f2b1d7]');

test('the reference: SSH_EXEC_OUTPUT: COMPLETED', () => {
  expect(
    text(
      { tool: 'ssh_exec_output', status: 'completed' },
      {
        fields: { COMMAND_ID: '7d4c8e2a', EXIT: 0 },
        blocks: [
          { name: 'stdout', text: 'total 8\ndrwxr-xr-x 2 alice alice 4096 May 2 18:00 src\n' },
          { name: 'stderr', text: '' },
        ],
      },
    ),
  ).toBe(`SSH_EXEC_OUTPUT: COMPLETED
COMMAND_ID: 7d4c8e2a
EXIT: 0
--- stdout [a3f2b1d7] ---
total 8
drwxr-xr-x 2 alice alice 4096 May 2 18:00 src
--- stderr [a3f2b1d7] (empty) ---`);
});

test('shared rules: fields, rows, blocks, HINT, WARN, and NEXT always last', () => {
  expect(
    text(
      {
        tool: 'ssh_sessions',
        status: 'ok',
        next: 'ssh_disconnect(session_id=a) | ssh_disconnect(session_id=b)',
        warnings: ['one', 'two'],
      },
      {
        hints: ['look'],
        blocks: [{ name: 'data', text: 'x' }],
        rows: ['a', 'b'],
        fields: { COUNT: 2, NONE: undefined, FLAG: false },
      },
    ),
  ).toBe(`SSH_SESSIONS: OK
COUNT: 2
FLAG: false
- a
- b
--- data [a3f2b1d7] ---
x
HINT: look
WARN: one
WARN: two
NEXT: ssh_disconnect(session_id=a) | ssh_disconnect(session_id=b)`);
});

test.each([
  [{ text: '' }, '--- stdout [a3f2b1d7] (empty) ---'],
  [{ text: '', state: 'partial' }, '--- stdout [a3f2b1d7] (partial, empty) ---'],
  [{ text: 'x', state: 'partial' }, '--- stdout [a3f2b1d7] (partial) ---\nx'],
  [
    { text: 'x', truncated: { shown: 16_384, total: 2_411_724 } },
    '--- stdout [a3f2b1d7] (truncated: showing 16.0KB of 2.3MB) ---\nx',
  ],
  [
    { text: 'x', state: 'partial', truncated: { shown: 16_384, total: 2_411_724 } },
    '--- stdout [a3f2b1d7] (partial, truncated: showing 16.0KB of 2.3MB) ---\nx',
  ],
  [{ text: 'a\n\n' }, '--- stdout [a3f2b1d7] ---\na\n'],
  [{ text: 'a\r\n' }, '--- stdout [a3f2b1d7] ---\na\r'],
])('shared rules: the annotation of a block %j', (block, fence) => {
  expect(text({ tool: 't', status: 'ok' }, { blocks: [{ name: 'stdout', ...block }] })).toBe(`T: OK\n${fence}`);
});

test('blocks of one answer share a nonce; rendering it again keeps it; another answer has another', () => {
  const reply: ReplyText = {
    blocks: [
      { name: 'stdout', text: 'a' },
      { name: 'stderr', text: 'b' },
    ],
  };
  const told = { tool: 't', status: 'ok' };
  const [one, two] = [{ ...told }, { ...told }];
  const first = replyText(one, reply);
  expect(first).toMatch(/^T: OK\n--- stdout (\[[0-9a-f]{8}\]) ---\na\n--- stderr \1 ---\nb$/);
  expect(replyText(one, reply)).toBe(first);
  expect(replyText(two, reply)).not.toBe(first);
});

test('shared rules: \\n, \\r and \\t are escaped, other control characters dropped', () => {
  expect(oneLine('a\nb\rc\td\0e\u001b[31mf\u0007')).toBe('a\\nb\\rc\\tde[31mf');
  expect(oneLine('a\u0085b\u2028c\u2029d\u007fe\u009bf')).toBe('abcdef');
  expect(oneLine('naïve — 漢字 🙂')).toBe('naïve — 漢字 🙂');
});

test('no value can begin a line of its own, wherever it stands', () => {
  const hostile = fc.string({
    unit: fc.constantFrom('\n', '\r', '\u2028', '\u0085', 'NEXT: ', '--- ', 'x', '\0', '\t'),
  });
  fc.assert(
    fc.property(hostile, (value) => {
      const lines = text(
        { tool: 't', status: 'ok', warnings: [value], next: value },
        { fields: { KEY: value }, rows: [value], hints: [value] },
      ).split(/\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/);
      expect(lines).toHaveLength(6);
      expect(lines.map((line) => line.split(' ', 1)[0])).toEqual(['T:', 'KEY:', '-', 'HINT:', 'WARN:', 'NEXT:']);
    }),
  );
});

test.each([
  [0, '0B'],
  [1023, '1023B'],
  [1024, '1.0KB'],
  [1536, '1.5KB'],
  [16_384, '16.0KB'],
  [1_048_576, '1.0MB'],
  [2_411_724, '2.3MB'],
  [5 * 1024 ** 3, '5.0GB'],
  [3 * 1024 ** 4, '3.0TB'],
  [3 * 1024 ** 5, '3072.0TB'],
])('shared rules: %d bytes are %s', (bytes, words) => {
  expect(byteSize(bytes)).toBe(words);
});

const encode = (words: string): Uint8Array => new TextEncoder().encode(words);

test.each([
  ['abc', 3, 'abc', undefined],
  ['abc', 2, 'bc', { shown: 2, total: 3 }],
  ['a€b', 4, '€b', { shown: 4, total: 5 }],
  ['a€b', 3, 'b', { shown: 1, total: 5 }],
  ['a€b', 2, 'b', { shown: 1, total: 5 }],
  ['a€', 2, '', { shown: 0, total: 4 }],
  ['🙂🙂', 7, '🙂', { shown: 4, total: 8 }],
  ['', 10, '', undefined],
])('shared rules: the tail of %j in %d bytes', (words, max, kept, truncated) => {
  expect(tailText(encode(words), max)).toEqual({ text: kept, truncated });
});

test('what a ring let go of counts as left out, and its first character may be cut', () => {
  expect(tailText(encode('€uro').subarray(1), 100, 20)).toEqual({ text: 'uro', truncated: { shown: 3, total: 20 } });
  expect(tailText(encode('uro'), 100, 20)).toEqual({ text: 'uro', truncated: { shown: 3, total: 20 } });
});

test('bytes that are no text are not taken for the middle of a character', () => {
  const { text: words, truncated } = tailText(new Uint8Array(10).fill(0x80), 6);
  expect([words, truncated]).toEqual(['\ufffd'.repeat(6), { shown: 6, total: 10 }]);
});

test('a tail is the end of the text, at most so many bytes, and three short of it at most', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.nat(40), (words, max) => {
      const bytes = encode(words);
      const whole = new TextDecoder().decode(bytes);
      const tail = tailText(bytes, max);
      expect(whole.endsWith(tail.text)).toBe(true);
      const shown = encode(tail.text).length;
      expect(shown).toBeLessThanOrEqual(max);
      expect(shown).toBeGreaterThanOrEqual(Math.min(bytes.length, max - 3));
      expect(tail.truncated).toEqual(shown < bytes.length ? { shown, total: bytes.length } : undefined);
    }),
  );
});
