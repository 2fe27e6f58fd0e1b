import { expect, test } from 'vitest';
import { ManualClock } from '../../../../test/support/clocks/manual.ts';
import { Emitter } from '../../../lib/emitter.ts';
import type { OutputEvent } from '../intake.ts';
import type { LastInput } from '../../input/type-ahead.ts';
import { ReplyEcho } from './echo.ts';

function setUp(before?: LastInput) {
  const clock = new ManualClock();
  const output = new Emitter<OutputEvent>();
  const typed: string[] = [];
  const state = { last: before };
  const echo = new ReplyEcho({
    clock,
    output,
    lastInput: () => state.last,
    type: (bytes, mayGo) => void (mayGo() && typed.push(Buffer.from(bytes).toString())),
  });
  const say = (text: string): void => output.emit({ bytes: Buffer.from(text), from: 0, atMs: 0 });
  return { clock, output, typed, state, echo, say };
}

const answer = Buffer.from('\x1b[?1;2c');

test('an answer that is echoed is erased once, also when the echo comes in pieces', () => {
  const { echo, say, typed, output, clock } = setUp();
  echo.expect(answer);
  for (const piece of ['some output ^', '[[?', '1;', '2c^[[?1;2c']) say(piece);
  expect([typed, output.size, clock.timers]).toEqual([['\x15'], 0, 0]);
});

test('one that is not echoed in two seconds is left alone', () => {
  const { echo, say, typed, output, clock } = setUp();
  echo.expect(answer);
  say('\x1b[?1049h the program draws');
  clock.advance(2000);
  say('^[[?1;2c');
  expect([typed, output.size]).toEqual([[], 0]);
});

test('nothing is erased that was typed by others, before or since', () => {
  const begun = setUp({ atMs: 0, offset: 0, entered: false });
  begun.echo.expect(answer);
  begun.say('^[[?1;2c');
  expect(begun.typed).toEqual([]);
  const since = setUp({ atMs: 0, offset: 0, entered: true });
  since.echo.expect(answer);
  since.state.last = { atMs: 1, offset: 1, entered: false };
  since.say('^[[?1;2c');
  expect(since.typed).toEqual([]);
});
