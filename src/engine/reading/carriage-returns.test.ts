import { describe, expect, test } from 'vitest';
import { plainOutput } from './plain-output.ts';
import { textOf } from '../run/output-text.ts';
import { PrintedText } from '../waiting/printed-text.ts';

/** Long runs of one blank character: a pattern that tries every place in the run takes the square of its length. */
const many = 120_000;
const returns = '\r'.repeat(many);
const size = { cols: 80, rows: 24 };

const readers: Readonly<Record<string, (text: string) => unknown>> = {
  'output without a screen': (text) => plainOutput(text),
  'the output of a command': (text) => textOf(Buffer.from(text), size),
  'text that is waited for': (text) => new PrintedText().feed(Buffer.from(text)),
};

describe.each(Object.keys(readers))('%s takes time by its length', (name) => {
  test.each([
    ['carriage returns', `${returns}x`],
    ['carriage returns before the end of a line', `${returns}\n`],
    ['tabs before a word', `${'\t'.repeat(many)}x\r\n`],
  ])('%s', async (_, text) => {
    await readers[name]?.(text.slice(0, 100));
    const before = process.cpuUsage();
    await readers[name]?.(text);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(2500);
  });
});
