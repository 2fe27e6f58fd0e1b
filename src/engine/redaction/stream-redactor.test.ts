import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Redactor } from './redactor.ts';

const redactor = new Redactor({ key: new Uint8Array(32) });
const github = ['ghp', '_16C7e42F292c6912E7710c838347Ae178B4a'].join('');
const mask = redactor.mask(github);

function run(chunks: readonly string[], options: { cols?: number; flush?: boolean } = {}): string {
  const stream = redactor.stream(options);
  let text = '';
  for (const chunk of chunks) {
    text += stream
      .push(chunk, undefined)
      .map((piece) => piece.text)
      .join('');
    if (options.flush)
      text += stream
        .flush()
        .map((piece) => piece.text)
        .join('');
  }
  return (
    text +
    stream
      .end()
      .map((piece) => piece.text)
      .join('')
  );
}

describe('a secret is masked', () => {
  test('split over two chunks', () => {
    expect(run([`x ${github.slice(0, 9)}`, `${github.slice(9)} y\n`])).toBe(`x ${mask} y\n`);
  });
  test('coloured in the middle: colours stay', () => {
    const text = `\x1b[31m${github.slice(0, 8)}\x1b[0m\x1b[1m${github.slice(8)}\x1b[0m\r\n`;
    expect(run([text])).toBe(`\x1b[31m${mask}\x1b[0m\x1b[1m\x1b[0m\r\n`);
  });
  test('wrapped at the margin by the program', () => {
    const line = `0123456789 ${github}`;
    expect(run([`${line.slice(0, 20)}\r\n${line.slice(20, 40)}\r\n${line.slice(40)} z\r\n`], { cols: 20 })).toBe(
      `0123456789 ${mask}\r\n\r\n z\r\n`,
    );
  });
  test('wrapped by a line editor, which writes a blank past the margin', () => {
    expect(run([`$ ${github.slice(0, 18)} \r${github.slice(18)}\r\n`])).toBe(`$ ${mask}\r\r\n`);
  });
  test('on the next row of a full-screen program', () => {
    const line = `0123456789 ${github}`;
    const text = `\x1b[3;1H${line.slice(0, 30)}\x1b[4;1H${line.slice(30)}\x1b[5;1H`;
    expect(run([text], { cols: 30 })).toBe(`\x1b[3;1H0123456789 ${mask}\x1b[4;1H\x1b[5;1H`);
  });
  test('with typing mistakes in it', () => {
    expect(run([`export TOKEN=ab`, `X`, `\b \b`, `c1234567\r\n`])).toBe(
      `export TOKEN=${redactor.mask('abc1234567')}\r\n`,
    );
  });
  test('in a title and in a reported command line', () => {
    expect(run([`\x1b]0;ssh ${github}\x07\x1b]633;E;export X=${github}\x1b\\ok\n`])).toBe(
      `\x1b]0;ssh ${mask}\x07\x1b]633;E;export X=${mask}\x1b\\ok\n`,
    );
  });
  test('completed after a flush: what follows does not come out', () => {
    const out = run([`A_TOKEN=abc12345`, `6789xyz`, ` tail\n`], { flush: true });
    expect(out).toMatch(/^A_TOKEN=<redacted:[0-9a-f]{8}> tail\n$/);
  });
  test('a private key over many chunks', () => {
    const lines = ['-----BEGIN PRIVATE KEY-----\r\n', ...Array.from({ length: 30 }, () => 'MIIEpAIBAAKCAQEA\r\n')];
    const out = run([...lines, '-----END PRIVATE KEY-----\r\n', 'after\r\n']);
    expect(out).toMatch(
      /^-----BEGIN PRIVATE KEY-----\r\n<redacted:[0-9a-f]{8}>\r\n-----END PRIVATE KEY-----\r\nafter\r\n$/,
    );
  });
  test('anywhere in a line that is longer than what may be held', () => {
    for (const before of [16_000, 16_383, 20_000, 12_288, 12_280]) {
      const text = `${'a b '.repeat(before / 4)}${github} ${'c d '.repeat(9_000)}`;
      const chunks = text.match(/[^]{1,1000}/g) ?? [];
      expect(run(chunks)).toBe(text.replace(github, mask));
    }
  });
});

test('text is held only until its line ends, or flush, and never more than a bound', () => {
  const stream = redactor.stream();
  expect(stream.push('$ ', undefined)).toEqual([]);
  expect(stream.flush().map((piece) => piece.text)).toEqual(['$ ']);
  expect(stream.push('done\n', undefined).map((piece) => piece.text)).toEqual(['done\n']);
  for (let i = 0; i < 200; i++) {
    stream.push('a b '.repeat(250), undefined);
    expect(stream.held).toBeLessThanOrEqual(17_500);
  }
});

test('pieces keep the tag they came with, and empty pushes keep their place', () => {
  const stream = redactor.stream<string>();
  const pieces = [
    ...stream.push('one ', 'a'),
    ...stream.push('', 'mark'),
    ...stream.push(`${github.slice(0, 10)}`, 'b'),
    ...stream.push(`${github.slice(10)} two`, 'c'),
    ...stream.push('\n', 'd'),
    ...stream.push('', 'last'),
  ];
  expect(pieces).toEqual([
    { text: 'one ', tag: 'a' },
    { text: '', tag: 'mark' },
    { text: mask, tag: 'b' },
    { text: ' two', tag: 'c' },
    { text: '\n', tag: 'd' },
    { text: '', tag: 'last' },
  ]);
});

test('property: however cut and flushed, no secret and nothing but the secret is missing', () => {
  const part = fc.constantFrom(
    'word ',
    'é日 ',
    '\x1b[31m',
    '\x1b[0m',
    '\r\n',
    `${github} `,
    '42 ',
    '\x1b]0;t\x07',
    '\x1b[2;1H',
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 30 }), fc.array(fc.nat(20), { maxLength: 60 }), (parts, cuts) => {
      const text = parts.join('');
      const chunks: string[] = [];
      let at = 0;
      for (const cut of cuts) chunks.push(text.slice(at, (at += cut)));
      chunks.push(text.slice(at));
      expect(run(chunks)).toBe(text.replaceAll(github, mask));
    }),
    { numRuns: 500 },
  );
});

test('property: without secrets nothing changes, whatever the bytes', () => {
  const part = fc.oneof(
    fc.constantFrom('\x1b', '[', ']', ';', '\r', '\n', '\b', 'H', '\x07', '\\', ' '),
    fc.string({ maxLength: 3 }),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 40 }), fc.boolean(), fc.constantFrom(0, 5), (parts, flush, cols) => {
      fc.pre(redactor.redactText(parts.join('')).count === 0);
      expect(run(parts, { flush, cols })).toBe(parts.join(''));
    }),
    { numRuns: 1000 },
  );
});
