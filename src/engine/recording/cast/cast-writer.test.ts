import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CastWriter, headerLine } from './cast-writer.ts';

const parse = (lines: string): [number, string, string][] =>
  lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as [number, string, string]);

const writer = (idleTimeLimit = 0, format: 'v2' | 'v3' = 'v2', startMs = 0): CastWriter =>
  new CastWriter({ format, idleTimeLimit }, startMs);

describe('header (R-TERM-072)', () => {
  const header = {
    format: 'v2',
    size: { cols: 80, rows: 24 },
    startTime: 1_700_000_000_987,
    shell: '/bin/bash',
    term: 'xterm-256color',
    idleTimeLimit: 0,
  } as const;
  test('v2', () => {
    expect(JSON.parse(headerLine(header))).toEqual({
      version: 2,
      width: 80,
      height: 24,
      timestamp: 1_700_000_000,
      env: { SHELL: '/bin/bash', TERM: 'xterm-256color' },
    });
    const full = JSON.parse(headerLine({ ...header, title: 'Démo', idleTimeLimit: 2 })) as Record<string, unknown>;
    expect(full['title']).toBe('Démo');
    expect(full['idle_time_limit']).toBe(2);
  });
  test('v3', () => {
    expect(JSON.parse(headerLine({ ...header, format: 'v3' }))).toEqual({
      version: 3,
      term: { cols: 80, rows: 24, type: 'xterm-256color' },
      timestamp: 1_700_000_000,
      env: { SHELL: '/bin/bash' },
    });
  });
});

describe('events (R-TERM-072)', () => {
  test('all kinds, with times of six decimals at most that never decrease', () => {
    const cast = writer(0, 'v2', 1000);
    const lines =
      cast.output('a', 1000.0004) +
      cast.input('b', 1001.23456789) +
      cast.marker('ls', 1001.2) +
      cast.resize({ cols: 100, rows: 30 }, 2000) +
      cast.exit(1, 2100);
    expect(lines).toBe('[0,"o","a"]\n[0.001235,"i","b"]\n[0.001235,"m","ls"]\n[1,"r","100x30"]\n');
  });

  test('v3 writes intervals and the exit status', () => {
    const cast = writer(0, 'v3');
    const lines = cast.output('a', 500) + cast.output('b', 1500) + cast.exit(3, 1600);
    expect(parse(lines)).toEqual([
      [0.5, 'o', 'a'],
      [1, 'o', 'b'],
      [0.1, 'x', '3'],
    ]);
  });

  test('an escape sequence split between reads is one event', () => {
    const cast = writer();
    expect(parse(cast.output('red \x1b', 1))).toEqual([[0.001, 'o', 'red ']]);
    expect(cast.output('[3', 2)).toBe('');
    expect(parse(cast.output('1mX', 3))).toEqual([[0.003, 'o', '\x1b[31mX']]);
    expect(cast.output('\x1b]0;tit', 4) + cast.output('le', 5)).toBe('');
    expect(parse(cast.output('\x07.', 6))).toEqual([[0.006, 'o', '\x1b]0;title\x07.']]);
    expect(cast.output('\x1bP1;2', 7) + cast.output('q#0\x1b', 8)).toBe('');
    expect(parse(cast.output('\\', 9))).toEqual([[0.009, 'o', '\x1bP1;2q#0\x1b\\']]);
    expect(parse(cast.output('end\x1b[', 10) + cast.end(11))).toEqual([
      [0.01, 'o', 'end'],
      [0.011, 'o', '\x1b['],
    ]);
  });

  test('a sequence without end is held only so long', () => {
    const cast = writer();
    expect(cast.output('\x1b]52;', 1)).toBe('');
    expect(parse(cast.output('x'.repeat(70_000), 2))[0]?.[2]).toHaveLength(70_005);
    expect(cast.held).toBe('');
  });

  test('characters that some readers take for line ends are escaped', () => {
    const line = writer().output('a\u2028b\u2029c\u0085d', 0);
    expect(line).toBe('[0,"o","a\\u2028b\\u2029c\\u0085d"]\n');
    expect(parse(line)[0]?.[2]).toBe('a\u2028b\u2029c\u0085d');
  });
});

describe('idle cap (R-TERM-073)', () => {
  const times = (limit: number, ...at: number[]): number[] => {
    const cast = writer(limit);
    return parse(at.map((ms) => cast.output('x', ms)).join('')).map(([time]) => time);
  };
  test('a longer gap advances by exactly the limit; later events keep their distance; the first wait counts', () => {
    expect(times(2, 10_000, 10_500, 20_000, 20_100)).toEqual([2, 2.5, 4.5, 4.6]);
  });
  test('a gap of the limit stays', () => expect(times(2, 2000, 4000)).toEqual([2, 4]));
  test('0 keeps real time', () => expect(times(0, 10_000, 99_000)).toEqual([10, 99]));
});

test('property: however cut, the output of a cast is the text, and time never goes back', () => {
  const unit = fc.constantFrom(
    '\x1b[31m',
    '\x1b]0;t\x07',
    '\x1b',
    'é',
    '日本',
    '👩‍👩‍👧',
    'abc',
    '\r\n',
    '\x1b[',
    'm',
    '\x1bP',
    '\x1b\\',
  );
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.array(unit, { maxLength: 6 }), fc.integer({ min: -50, max: 5000 })), { maxLength: 30 }),
      fc.constantFrom(0, 0.5, 2),
      fc.constantFrom('v2' as const, 'v3' as const),
      (chunks, limit, format) => {
        const cast = writer(limit, format);
        let lines = '';
        let at = 0;
        for (const [parts, gap] of chunks) {
          at += gap;
          lines += cast.output(parts.join(''), at);
        }
        const events = parse(lines + cast.end(at));
        expect(events.map(([, , data]) => data).join('')).toBe(chunks.map(([parts]) => parts.join('')).join(''));
        const steps = events.map(([time], index) => (format === 'v3' ? time : time - (events[index - 1]?.[0] ?? 0)));
        for (const step of steps) {
          expect(step).toBeGreaterThanOrEqual(0);
          if (limit > 0) expect(step).toBeLessThanOrEqual(limit + 1e-6);
        }
      },
    ),
  );
});
