import { createRequire } from 'node:module';
import type { Terminal as HeadlessTerminal } from '@xterm/headless';
import { expect, test, vi } from 'vitest';
import type { WebSocket } from 'ws';
import { incompleteTail } from '../../src/lib/utf8.ts';
import type { FollowedEvent } from '../../web/src/lib/shapes.ts';
import { TerminalReader } from '../../web/src/lib/terminal/reader.ts';
import { boundSequences, fitAlternate } from '../../web/src/lib/terminal/xterm-core.ts';
import { limit } from '../support/engine.ts';
import { fuzzedOutput, seeded } from '../support/fuzzed-output.ts';
import { LiveDesk } from '../support/live-desk.ts';

const { Terminal } = createRequire(import.meta.url)('@xterm/headless') as {
  Terminal: new (options: object) => HeadlessTerminal;
};

const { Unicode11Addon } = createRequire(import.meta.url)('@xterm/addon-unicode11') as {
  Unicode11Addon: new () => object;
};

const size = { cols: 80, rows: 24 };
function emulator(): HeadlessTerminal {
  const made = new Terminal({ ...size, scrollback: 5000, allowProposedApi: true, logLevel: 'off' });
  made.loadAddon(new Unicode11Addon() as never);
  made.unicode.activeVersion = '11';
  boundSequences(made);
  return made;
}

const resize = (terminal: HeadlessTerminal, cols: number, rows: number): void => {
  terminal.resize(cols, rows);
  fitAlternate(terminal);
};

/** Everything that an emulator shows: each cell with its look, the cursor, which screen it is. `rows`: the last ones only. */
function shown(terminal: HeadlessTerminal, rows = Number.POSITIVE_INFINITY): string[] {
  const { active } = terminal.buffer;
  const from = Math.max(0, active.length - rows);
  const lines: string[] = [`${active.type} ${terminal.cols}x${terminal.rows} ${active.cursorX},${active.cursorY}`];
  for (let row = from; row < active.length; row++) {
    const line = active.getLine(row);
    let text = line?.isWrapped === true && row > from ? '↪' : '';
    let look = '';
    for (let x = 0; x < terminal.cols; x++) {
      const cell = line?.getCell(x);
      const now = `${cell?.getFgColor()},${cell?.getBgColor()},${cell?.isBold()},${cell?.isInverse()}`;
      if (now !== look) text += `{${now}}`;
      look = now;
      text += cell?.getChars() || ' ';
    }
    lines.push(text.trimEnd());
  }
  return lines;
}

/** Calls back before or after a frame is heard, and says when a socket is to be cut. */
class Cutter {
  readonly #random: () => number;
  readonly #most: number;
  cuts = 0;

  constructor(random: () => number, most: number) {
    this.#random = random;
    this.#most = most;
  }

  readonly opened = (socket: WebSocket): void => {
    if (this.cuts >= this.#most) return;
    const cut = (): void => {
      if (this.cuts >= this.#most || socket.readyState > 1) return;
      this.cuts += 1;
      socket.terminate();
    };
    // Before it is open, after some frames (some of them lost on the way), or after some time.
    const how = this.#random();
    if (how < 0.05) setTimeout(cut, this.#random() * 3);
    else if (how < 0.2) setTimeout(cut, this.#random() * 20);
    else {
      let frames = 1 + Math.floor(this.#random() * 5);
      socket.on('message', () => {
        frames -= 1;
        if (frames === 0) cut();
      });
    }
  };
}

/** The page's timers, so much faster: a redial takes milliseconds. */
const quick = {
  now: () => performance.now(),
  after: (ms: number, run: () => void) => {
    const timer = setTimeout(run, ms < 20_000 ? ms / 1000 : ms);
    return () => clearTimeout(timer);
  },
};

async function cutLink(cuts: number, seed: number, options: { capacity?: number; bursts?: number } = {}) {
  const random = seeded(seed);
  await using desk = await LiveDesk.open({ size, ...options });
  const { far, terminal } = desk;
  const cutter = new Cutter(random, cuts);
  const live = desk.client(cutter.opened, {}, { clock: quick });
  const seen = emulator();
  const whole = emulator();
  let parsed = 0;
  const events: { event: FollowedEvent; parsed: number }[] = [];
  const typed: number[] = [];
  let skipped = 0;
  const counting = {
    get cols() {
      return seen.cols;
    },
    get rows() {
      return seen.rows;
    },
    write: (data: string | Uint8Array, done?: () => void) =>
      seen.write(data, () => {
        if (typeof data !== 'string') parsed += data.length;
        done?.();
      }),
    resize: (cols: number, rows: number) => resize(seen, cols, rows),
  };
  const failures: string[] = [];
  const reader = new TerminalReader(live, terminal.id, counting, {
    screen: (_screen, missed) => {
      parsed = 0;
      skipped += missed;
    },
    event: (event) => events.push({ event, parsed }),
    ended: () => {},
    failed: ({ message }) => failures.push(message),
  });
  const print = fuzzedOutput(random);
  // The emulator drops some characters that are cut.
  let begun = Buffer.alloc(0);
  const writeWhole = (bytes: Buffer): void => {
    const all = Buffer.concat([begun, bytes]);
    const end = all.length - incompleteTail(all, all.length);
    whole.write(all.subarray(0, end));
    begun = all.subarray(end);
  };
  try {
    // An empty screen first: what comes then are bytes.
    await vi.waitUntil(() => reader.have === 0, { timeout: 20_000 });
    let now = { ...size };
    while (cutter.cuts < cuts) {
      for (let burst = 1 + Math.floor(random() * (options.bursts ?? 3)); burst > 0; burst--) {
        const bytes = print();
        far.say(bytes);
        writeWhole(bytes);
      }
      await new Promise((resolve) => setTimeout(resolve, random() * 3));
      if (random() < 0.2) {
        typed.push(terminal.log.end);
        await terminal.input.send(Buffer.from('x\r'), `agent ${typed.length}`, limit());
      }
      if (random() < 0.05) {
        now = { cols: 40 + Math.floor(random() * 80), rows: 10 + Math.floor(random() * 20) };
        await vi.waitUntil(() => far.output.size === 0, { timeout: 20_000 });
        await terminal.resize(now, limit());
        const { cols, rows } = now;
        whole.write('', () => resize(whole, cols, rows));
      }
    }
    await vi.waitUntil(() => far.output.size === 0 && reader.have === terminal.log.end, { timeout: 20_000 });
    for (const one of [seen, whole]) await new Promise<void>((resolve) => one.write('', resolve));
    return { seen, whole, events, typed, skipped, cuts: cutter.cuts, end: terminal.log.end, failures };
  } finally {
    reader.stop();
    live.end();
  }
}

test('a thousand cuts at random moments: no gap, nothing twice, and the screen of an emulator that saw all', async () => {
  const { seen, whole, events, typed, skipped, cuts, end, failures } = await cutLink(1000, 4711);
  expect(cuts).toBe(1000);
  expect(end).toBeGreaterThan(100_000);
  expect(failures).toEqual([]);
  expect(skipped).toBe(0);
  expect(shown(seen)).toEqual(shown(whole));
  // Each input once, in order, and told when exactly the bytes before it were on the screen.
  const told = events.filter(({ event }) => event.event === 'typed');
  expect(told.map(({ event }) => event.off)).toEqual(typed);
  // At most the beginning of a character waits for its rest.
  const behind = told.map(({ event, parsed }) => event.off - parsed);
  expect(behind.filter((bytes) => bytes < 0 || bytes > 3)).toEqual([]);
  expect(events.map(({ event }) => event.n)).toEqual(events.map(({ event }) => event.n).toSorted((a, b) => a - b));
}, 180_000);

test('bytes that are no longer kept are told, and the screen is that of an emulator that saw all', async () => {
  const { seen, whole, skipped, cuts } = await cutLink(60, 99, { capacity: 1 << 10, bursts: 30 });
  expect(cuts).toBe(60);
  expect(skipped).toBeGreaterThan(0);
  const { rows } = seen;
  expect(shown(seen, rows)).toEqual(shown(whole, rows));
}, 60_000);
