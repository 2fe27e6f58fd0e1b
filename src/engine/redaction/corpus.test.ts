import { describe, expect, test } from 'vitest';
import { harmless, type Leak, leaks } from '../../../test/support/redaction/corpus.ts';
import { coloured, seen, wraps } from '../../../test/support/redaction/wraps.ts';
import { Redactor } from './redactor.ts';

const redactor = new Redactor({ key: new TextEncoder().encode('test installation') });
const mask = /<redacted:[0-9a-f]{8}>/g;
const widths = [7, 12, 20, 33, 40, 80];
const allLeaks = Object.entries(leaks).flatMap(([row, list]) => list.map((one) => [row, one.line, one] as const));
const allHarmless = Object.entries(harmless).flatMap(([row, list]) => list.map((line) => [row, line] as const));

function shown(chunks: readonly (string | Uint8Array)[], cols = 0): string {
  const stream = redactor.stream({ cols });
  const pieces = chunks.flatMap((chunk) => stream.push(chunk, undefined));
  return [...pieces, ...stream.end()].map(({ text }) => text).join('');
}

/** Nothing of the secret is left that would help: not a third of it, and not the whole of a short one. */
function expectMasked(output: string, { secret }: Leak): void {
  const text = seen(output).replace(mask, '‹›');
  const size = Math.max(5, Math.ceil(secret.length / 3));
  const left = Array.from({ length: secret.length - size + 1 }, (_, at) => secret.slice(at, at + size));
  expect(left.filter((part) => text.includes(part))).toEqual([]);
  expect(output).toMatch(mask);
}

describe.each(allLeaks)('%s: %s', (_row, line, leak) => {
  test('is masked however its bytes are cut', () => {
    const bytes = new TextEncoder().encode(`first\r\n${line}\r\nlast\r\n`);
    const whole = shown([bytes]);
    expectMasked(whole, leak);
    for (let at = 0; at <= bytes.length; at++) {
      expect(shown([bytes.subarray(0, at), bytes.subarray(at)])).toBe(whole);
    }
    expect(shown(Array.from(bytes, (_, at) => bytes.subarray(at, at + 1)))).toBe(whole);
  });

  test.each(Object.entries(wraps))('is masked when wrapped %s', (_how, wrap) => {
    for (const cols of widths) expectMasked(shown([`first\r\n${wrap(line, cols)}`], cols), leak);
  });

  test('is masked with a colour anywhere in it', () => {
    for (let at = 0; at <= [...line].length; at++) expectMasked(shown([coloured(line, at)]), leak);
  });

  test('is masked in a title and among lines without secrets', () => {
    expect(shown([`\x1b]0;${line}\x07ok\r\n`])).not.toContain(leak.secret);
    const flood = 'cc src/alpha/beta.c:12: parser queue render\r\n'.repeat(300);
    const output = shown([`${flood}${line}\r\n${flood}`], 120);
    expectMasked(output, leak);
    expect(output.replaceAll(/cc src.*\r\n/g, '')).toBe(shown([`${line}\r\n`], 120));
  });

  test('has the same tag wherever it stands', () => {
    const tag = (output: string): string[] => output.match(mask) ?? [];
    expect(tag(shown([`${line}\n`]))).toEqual(tag(shown([coloured(line, line.indexOf(leak.secret) + 2)])));
  });
});

describe.each(allHarmless)('%s: %s', (_row, line) => {
  test('is left as it is, however cut and wrapped', () => {
    const bytes = new TextEncoder().encode(`${line}\r\n`);
    for (let at = 0; at <= bytes.length; at++) {
      expect(shown([bytes.subarray(0, at), bytes.subarray(at)])).toBe(`${line}\r\n`);
    }
    for (const wrap of Object.values(wraps)) {
      for (const cols of widths) expect(shown([wrap(line, cols)], cols)).toBe(wrap(line, cols));
    }
  });
});
