import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EventMask } from '../../../src/engine/recording/cast/event-mask.ts';
import { applyEvent, blankScreen } from '../../../src/engine/recording/keyframes/keyframer.ts';
import type { LogEntry } from '../../../src/engine/recording/log/entry.ts';
import { type LogEventName, logLine } from '../../../src/engine/recording/log/log-line.ts';
import { logEvents, logInfo } from '../../../src/engine/recording/replay/log-cast.ts';
import { Replays } from '../../../src/engine/recording/replay/replays.ts';
import { Redactor } from '../../../src/engine/redaction/redactor.ts';
import { ownIdentity } from '../../../src/system/process-identity.ts';
import { tempDir } from '../../support/recording.ts';

const id = '01a1ec1e-d63b-7031-a8d0-b32b76d96b66';
const secret = 'ghp_0123456789abcdefghijABCDEFGHIJ456789';
const redactor = new Redactor({ key: Buffer.alloc(32, 1) });
const never = new AbortController().signal;
const startMicros = 1_700_000_000_000_000;

type Line = readonly [gapMicros: number, name: LogEventName, data: Buffer];

async function withLog(lines: readonly Line[]) {
  const dir = await tempDir();
  const path = join(dir.path, 'a.log');
  let micros = startMicros;
  const text = lines.map(([gap, name, data]) => logLine((micros += gap), name, data));
  await writeFile(path, [logLine(startMicros, 'resize', '40x6'), ...text].join(''));
  const entry = {
    unterm_session_id: id,
    recording_id: id,
    started_at: new Date(startMicros / 1000).toISOString(),
    ended_at: new Date(micros / 1000).toISOString(),
    log_path: path,
    md_path: `${path}.md`,
    project_slug: '_orphan',
    block_count: 0,
    from_offset: 1000,
    writer: ownIdentity(),
  } as LogEntry;
  const logs = { all: async () => [entry], find: (wanted: string) => (wanted === id ? entry : undefined) };
  const replays = new Replays({ dir: dir.path, redactor: () => redactor, logs: () => logs, closing: never });
  const found = await replays.find(id);
  if (!found) throw new Error('The log is not found.');
  return {
    path,
    replays,
    entry: found,
    endT: (micros - startMicros) / 1e6,
    async [Symbol.asyncDispose]() {
      replays[Symbol.dispose]();
      await dir[Symbol.asyncDispose]();
    },
  };
}

/** The text at a moment, played from the start by one mask. */
async function playedTo(path: string, t: number): Promise<string> {
  const info = await logInfo(path);
  const mask = new EventMask(redactor, info.size);
  using screen = blankScreen({ size: info.size, screen: '' });
  const events = [];
  for await (const event of logEvents(path, info)) events.push(...mask.push(event));
  for (const event of [...events, ...mask.end()]) {
    if (event.atMs <= Math.round(t * 1e6) / 1000) applyEvent(screen, event);
  }
  return screen.text({ scope: 'viewport', wrap: 'keep' });
}

/** A blank cell is a blank cell, whether or not it was written to. */
const trimmed = (text: string): string => text.replaceAll(/ +$/gm, '');

const words = fc.constantFrom(
  'plain words',
  'größer € 你好 🙂',
  `TOKEN=${secret}`,
  '\x1b[32mgreen\x1b[m',
  '\x1b]133;C\x07',
);
/** Pieces of bytes that cut characters anywhere. */
const output = fc.tuple(fc.array(words, { maxLength: 4 }), fc.boolean(), fc.nat()).map(([all, ends, cut]) => {
  const bytes = Buffer.from(all.join(' ') + (ends ? '\r\n' : ''));
  return [bytes.subarray(0, cut % (bytes.length + 1)), bytes.subarray(cut % (bytes.length + 1))];
});
const gap = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 4_000_000 }));
const anyLines = fc
  .array(fc.tuple(gap, output), { minLength: 1, maxLength: 30 })
  .map((all) =>
    all.flatMap(([micros, pieces]): Line[] => pieces.map((data, at) => [at === 0 ? micros : 7, 'out', data])),
  );

test('R-RPC-074: a seek in a raw log shows what playing from its start shows, wherever characters are cut', async () => {
  await fc.assert(
    fc.asyncProperty(
      anyLines,
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 2, maxLength: 4 }),
      async (lines, moments) => {
        await using log = await withLog(lines);
        for (const t of [...moments.map((share) => share * log.endT), log.endT + 1]) {
          const { text } = await log.replays.seek(log.entry, t, never);
          expect(trimmed(text)).toBe(trimmed(await playedTo(log.path, t)));
        }
      },
    ),
    { numRuns: 80 },
  );
}, 120_000);

test('R-RPC-074: keyframes of a raw log know the offset in the output of the terminal', async () => {
  const tick = Buffer.from('tick\r\n');
  await using log = await withLog(Array.from({ length: 20 }, (): Line => [1_000_000, 'out', tick]));
  const keys = await log.replays.keys(log.entry, 0, 1e6, never);
  expect(keys.length).toBeGreaterThanOrEqual(3);
  for (const { t, off } of keys) expect(off).toBe(1000 + t * tick.length);
});
