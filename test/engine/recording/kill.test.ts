import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '@modelcontextprotocol/client';
import { describe, expect, test } from 'vitest';
import { readLines, readMeta } from '../../support/recording.ts';
import { Served } from '../../support/served.ts';

/** The bar is fifty. */
const rounds = Number(process.env['FAIRLEAD_RECORDING_ROUNDS'] ?? 3);

async function ask<T>(client: Client, name: string, input: object = {}): Promise<T> {
  const result = await client.callTool({ name, arguments: { ...input } });
  if (result.isError) throw new Error(`${name}: ${JSON.stringify(result.content)}`);
  return result.structuredContent as T;
}

/** Prints numbers, each once, at a pace of which the log holds minutes; starts no processes for its pauses. */
const counting = 'exec 3<> <(:); i=0; while :; do i=$((i+1)); echo "n$i é漢"; ((i % 10)) || read -t 0.1 -u 3; done';
const numbersIn = (text: string): number[] => [...text.matchAll(/^n(\d+) é漢$/gm)].map(([, digits]) => Number(digits));

const wholeLines = (text: string): string => text.slice(0, text.lastIndexOf('\n') + 1);

/** Every line is JSON; the output is every number once and in order, up to the last whole one. */
function expectCounting(file: string): number {
  // A line is being written while this reads.
  const lines = wholeLines(file).trimEnd().split('\n');
  const [, ...events] = lines.map((line) => JSON.parse(line) as [number, string, string]);
  const times = events.map(([time]) => time);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  const text = events.flatMap(([, code, data]) => (code === 'o' ? [data] : [])).join('');
  // The first frame ends by placing the cursor.
  const numbers = numbersIn(text.replace(/\x1b\[[\d;?]*[A-Za-z]|\r\n/g, '\n'));
  expect(numbers.findIndex((number, index) => number !== (numbers[0] ?? 0) + index)).toBe(-1);
  return numbers.at(-1) ?? 0;
}

describe.runIf(process.platform === 'linux')('recordings outlive the server', () => {
  test(`R-TERM-075: kill -9 at ${rounds} random moments: one cast goes on, every line valid, every byte once`, {
    timeout: 60_000 + rounds * 30_000,
  }, async () => {
    await using served = await Served.start([
      '--port',
      '0',
      '--session-idle-timeout',
      '0',
      '--inactivity-timeout',
      '0',
    ]);
    let client = await served.connect();
    const begun: { readonly recordingId: string; readonly path: string; readonly sessionId: string }[] = [];
    for (const redact of [false, true]) {
      const { terminal: sessionId } = await ask<{ terminal: string }>(client, 'terminal_open', {
        argv: ['bash', '-c', counting],
      });
      begun.push(await ask(client, 'startRecording', { sessionId, redact, maxDuration: 0 }));
    }
    const part = (path: string): string => path.replace(/([^/]+)$/, '.$1.part');
    for (let round = 0; round < rounds; round++) {
      // The moment is the test: from while it starts to seconds later.
      await pause(Math.random() * (round % 2 === 0 ? 300 : 2_500));
      await served.end('SIGKILL');
      await client.close();
      await served.restart();
      client = await served.connect();
      const { sessions } = await ask<{ sessions: { sessionId: string; recordingId?: string }[] }>(
        client,
        'listSessions',
      );
      for (const { sessionId, recordingId, path } of begun) {
        expect(sessions.find((one) => one.sessionId === sessionId)?.recordingId, served.err).toBe(recordingId);
        const reached = expectCounting(await readFile(part(path), 'utf8'));
        await expect
          .poll(async () => expectCounting(await readFile(part(path), 'utf8')), {
            timeout: 20_000,
            interval: 200,
          })
          .toBeGreaterThan(reached);
      }
    }
    for (const { recordingId, path } of begun) {
      const stopped = await ask<{ path: string; recordingId: string }>(client, 'stopRecording', { recordingId });
      expect(stopped).toMatchObject({ path, recordingId });
      await readLines(path);
      expect(expectCounting(await readFile(path, 'utf8'))).toBeGreaterThan(100);
      expect(await readMeta(path)).toMatchObject({ recordingId, stopReason: 'explicit' });
    }
    const directory = join(begun[0]?.path ?? '', '..');
    expect((await readdir(directory)).filter((name) => name.startsWith('.'))).toEqual([]);
    await client.close();
  });
});
