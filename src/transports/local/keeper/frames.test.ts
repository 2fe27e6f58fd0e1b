import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Frame, FrameError, FrameReader, type FrameType, frame, frameTypes, largestFrame } from './frames.ts';
import { cpuTimer } from '../../../../test/support/clocks/cpu-timer.ts';

const names = Object.keys(frameTypes) as FrameType[];
const withOffset = new Set(['want', 'data', 'ack', 'flush', 'flushed', 'input', 'accepted', 'snapshot', 'lent']);

const anyFrame = fc.record({
  type: fc.constantFrom(...names),
  id: fc.stringMatching(/^[0-9a-f]{0,12}$/),
  body: fc.uint8Array({ maxLength: 300 }),
  offset: fc.integer({ min: 0, max: 2 ** 48 - 1000 }),
});

function cut(bytes: Uint8Array, lengths: readonly number[]): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let at = 0;
  for (let turn = 0; at < bytes.length; turn++) {
    const length = lengths[turn % lengths.length] ?? 1;
    pieces.push(bytes.slice(at, at + length));
    at += length;
  }
  return pieces;
}

/** Pieces of output put together again, if they follow each other. */
function joined(frames: readonly Frame[]): { type: number; id: string; offset: number; body: string }[] {
  const result: { type: number; id: string; offset: number; body: string }[] = [];
  for (const { type, id, offset, body } of frames) {
    const last = result.at(-1);
    const text = Buffer.from(body).toString('latin1');
    if (last && type === frameTypes.data && last.type === type && last.id === id) {
      expect(offset).toBe(last.offset + last.body.length);
      last.body += text;
    } else result.push({ type, id, offset, body: text });
  }
  return result;
}

describe('R-HUB-030 frames', () => {
  test('however the bytes are cut, the same frames come out', () => {
    fc.assert(
      fc.property(
        fc.array(anyFrame, { maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 8 }),
        (sent, lengths) => {
          // A ping between, so that output frames of one terminal can be told apart.
          const bytes = Buffer.concat(
            sent.flatMap(({ type, id, body, offset }) => [frame(type, id, body, offset), frame('ping')]),
          );
          const reader = new FrameReader();
          const got = joined(cut(bytes, lengths).flatMap((piece) => reader.push(piece))).filter(
            ({ type }) => type !== frameTypes.ping,
          );
          const wanted = sent
            .filter(({ type }) => type !== 'ping')
            .map(({ type, id, body, offset }) => ({
              type: frameTypes[type],
              id,
              offset: withOffset.has(type) ? offset : 0,
              body: Buffer.from(body).toString('latin1'),
            }));
          expect(got).toEqual(wanted);
        },
      ),
      { numRuns: 400 },
    );
  });

  test('a type from the future is handed on, for the receiver to skip', () => {
    const strange = frame('ping', 'abc12', Buffer.from('body'));
    strange[4] = 250;
    expect(new FrameReader().push(Buffer.concat([strange, frame('pong')])).map(({ type }) => type)).toEqual([
      250,
      frameTypes.pong,
    ]);
  });

  test('a length over 16 MiB, or one no frame can have, is an error', () => {
    const head = Buffer.alloc(6);
    head.writeUInt32BE(largestFrame + 1, 0);
    expect(() => new FrameReader().push(head)).toThrow(FrameError);
    expect(() => new FrameReader().push(Buffer.alloc(6))).toThrow(FrameError);
    const short = frame('ack', 'abc12', Buffer.alloc(0), 7);
    short.writeUInt32BE(9, 0);
    expect(() => new FrameReader().push(short)).toThrow(FrameError);
    expect(() => frame('snapshot', 'a', Buffer.alloc(largestFrame))).toThrow('too large');
  });

  test('bytes at random are frames or an error, never anything worse', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 64 }), { maxLength: 20 }), (chunks) => {
        const reader = new FrameReader();
        try {
          for (const chunk of chunks) reader.push(chunk);
        } catch (error) {
          expect(error).toBeInstanceOf(FrameError);
        }
      }),
    );
  });

  test('a frame of many megabytes is put together once, not again for each piece', () => {
    const bytes = frame('snapshot', 'abc12', new Uint8Array(15 << 20).fill(7), 42);
    const reader = new FrameReader();
    const spent = cpuTimer();
    const got = cut(bytes, [64 << 10]).flatMap((piece) => reader.push(piece));
    expect(got).toHaveLength(1);
    expect(got[0]).toMatchObject({ id: 'abc12', offset: 42 });
    expect(got[0]?.body.length).toBe(15 << 20);
    expect(spent()).toBeLessThan(1000);
  });
});
