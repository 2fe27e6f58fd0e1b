import { describe, expect, test } from 'vitest';
import { type CallFailed, type LinkNews, Live, type Socket } from '../../web/src/lib/live.ts';
import { ManualClock } from '../support/clocks/manual.ts';

type Frame = Record<string, unknown>;

/** A socket whose other end is the test. */
class TestSocket implements Socket {
  readyState = 0;
  onopen: Socket['onopen'] = null;
  onmessage: Socket['onmessage'] = null;
  onclose: Socket['onclose'] = null;
  isClosed = false;
  readonly sent: Frame[] = [];

  send(text: string): void {
    this.sent.push(JSON.parse(text) as Frame);
  }

  close(): void {
    this.isClosed = true;
    this.readyState = 3;
  }

  /** The server lets it in. */
  welcome(): void {
    this.readyState = 1;
    (this.onopen as (() => void) | null)?.();
    this.say({ t: 'welcome' });
  }

  say(frame: Frame): void {
    (this.onmessage as ((event: { data: string }) => void) | null)?.({ data: JSON.stringify(frame) });
  }

  break(code = 1006): void {
    this.readyState = 3;
    (this.onclose as ((event: { code: number }) => void) | null)?.({ code });
  }

  all(t: string): Frame[] {
    return this.sent.filter((frame) => frame['t'] === t);
  }
}

class Tab {
  readonly clock = new ManualClock();
  readonly sockets: TestSocket[] = [];
  readonly news: LinkNews[] = [];
  readonly trips: number[] = [];
  sign: (sign: 'online' | 'shown' | 'hidden') => void = () => {};
  readonly live: Live;

  constructor(random = 0.5) {
    this.live = new Live(
      {
        csrf: 'csrf',
        open: () => {
          const socket = new TestSocket();
          this.sockets.push(socket);
          return socket;
        },
        clock: {
          now: () => this.clock.now(),
          after: (ms, run) => {
            const timer = this.clock.after(ms, run);
            return () => timer[Symbol.dispose]();
          },
        },
        random: () => random,
        isHidden: () => false,
        signs: (heard) => {
          this.sign = heard;
        },
      },
      { link: (news) => this.news.push(news), roundTrip: (ms) => this.trips.push(ms) },
    );
  }

  get socket(): TestSocket {
    return this.sockets.at(-1) as TestSocket;
  }

  /** A stream that counts what it has. */
  follow(pausesWhenHidden = false): { have: number } {
    const reader = { have: 0 };
    this.live.read<number>({
      stream: 'person.follow',
      input: () => ({ from: reader.have }),
      item: (item) => void (reader.have = item),
      pausesWhenHidden,
    });
    return reader;
  }
}

describe('a link', () => {
  test('begins with hello; streams open when it is welcome, and again from where they were when it broke', () => {
    const tab = new Tab();
    tab.follow();
    expect(tab.news).toEqual([{ state: 'connecting' }]);
    tab.socket.welcome();
    expect(tab.socket.sent[0]).toEqual({ t: 'hello', csrf: 'csrf' });
    const [first] = tab.socket.all('open');
    expect(first).toMatchObject({ stream: 'person.follow', input: { from: 0 } });
    tab.socket.say({ t: 'item', ch: first?.['ch'], item: 7 });
    tab.socket.break();
    tab.clock.advance(500);
    tab.socket.welcome();
    const [again] = tab.socket.all('open');
    expect(again).toMatchObject({ input: { from: 7 } });
    expect(again?.['ch']).not.toBe(first?.['ch']);
    expect(tab.news.at(-1)).toEqual({ state: 'live' });
  });

  test('is tried again after 0.5 s, then half as often each time, every 10 s at last, with jitter', () => {
    for (const [random, factor] of [
      [0, 0.75],
      [0.5, 1],
      [1, 1.25],
    ] as const) {
      const tab = new Tab(random);
      const waited: number[] = [];
      for (let at = 0; at < 7; at++) {
        tab.socket.break();
        waited.push((tab.news.at(-1)?.nextTryAt ?? 0) - tab.clock.now());
        tab.clock.advance(waited.at(-1) ?? 0);
        expect(tab.sockets).toHaveLength(at + 2);
      }
      expect(waited).toEqual([500, 1000, 2000, 4000, 8000, 10_000, 10_000].map((ms) => ms * factor));
      tab.socket.welcome();
      tab.socket.break();
      expect((tab.news.at(-1)?.nextTryAt ?? 0) - tab.clock.now()).toBe(500 * factor);
    }
  });

  test.each(['online', 'shown'] as const)('is tried at once when the tab is %s', (sign) => {
    const tab = new Tab();
    for (let at = 0; at < 6; at++) {
      tab.socket.break();
      tab.clock.advance(60_000);
    }
    tab.socket.break();
    const before = tab.sockets.length;
    tab.sign(sign);
    expect(tab.sockets).toHaveLength(before + 1);
    // The try that was planned does not come as well.
    tab.clock.advance(15_000);
    expect(tab.sockets).toHaveLength(before + 1);
  });

  test('beats every 15 s and measures the round trip; without a frame for 20 s it is lost', () => {
    const tab = new Tab();
    tab.socket.welcome();
    const [first] = tab.socket.all('beat');
    tab.clock.advance(24);
    tab.socket.say({ t: 'beat', at: first?.['at'] });
    expect(tab.trips).toEqual([24]);
    tab.clock.advance(15_000);
    expect(tab.socket.all('beat')).toHaveLength(2);
    expect(tab.news.at(-1)).toEqual({ state: 'live' });
    const { socket } = tab;
    tab.clock.advance(5001);
    expect(tab.news.at(-1)).toMatchObject({ state: 'offline' });
    expect(socket.isClosed).toBe(true);
    // What comes late from it is not heard.
    socket.say({ t: 'welcome' });
    expect(tab.news.at(-1)).toMatchObject({ state: 'offline' });
  });

  test('answers the beats of the server at once', () => {
    const tab = new Tab();
    tab.socket.welcome();
    const before = tab.socket.all('beat').length;
    tab.socket.say({ t: 'beat', now: 5 });
    expect(tab.socket.all('beat').slice(before)).toEqual([{ t: 'beat' }]);
    expect(tab.trips).toEqual([]);
  });

  test('that is dead without knowing it is found out within 3 s of being looked at', () => {
    const tab = new Tab();
    tab.socket.welcome();
    const before = tab.socket.all('beat').length;
    tab.sign('shown');
    expect(tab.socket.all('beat')).toHaveLength(before + 1);
    tab.clock.advance(3001);
    expect(tab.news.at(-1)).toMatchObject({ state: 'offline' });
    const alive = new Tab();
    alive.socket.welcome();
    alive.sign('online');
    alive.socket.say({ t: 'beat', at: 0 });
    alive.clock.advance(10_000);
    expect(alive.news.at(-1)).toEqual({ state: 'live' });
  });

  test('that never opens is given up after 20 s', () => {
    const tab = new Tab();
    tab.clock.advance(20_001);
    expect(tab.news.at(-1)).toMatchObject({ state: 'offline' });
  });

  test('says that the server restarts, and that the login is over; then it is not tried again', () => {
    const tab = new Tab();
    tab.socket.welcome();
    tab.socket.break(1001);
    expect(tab.news.at(-1)).toMatchObject({ state: 'offline', isRestarting: true });
    tab.clock.advance(600);
    tab.socket.welcome();
    tab.socket.break(4401);
    expect(tab.news.at(-1)).toEqual({ state: 'offline', isSignedOut: true });
    const tried = tab.sockets.length;
    tab.clock.advance(60_000);
    tab.sign('online');
    expect(tab.sockets).toHaveLength(tried);
  });
});

describe('a hidden tab', () => {
  test('drops what only a person looks at after 30 s, and goes on from there when it is shown', () => {
    const tab = new Tab();
    const bytes = tab.follow(true);
    const list = tab.follow();
    tab.socket.welcome();
    const [follow, watch] = tab.socket.all('open');
    tab.sign('hidden');
    tab.clock.advance(14_000);
    tab.socket.say({ t: 'item', ch: follow?.['ch'], item: 5 });
    tab.clock.advance(15_000);
    expect(tab.socket.all('close')).toEqual([]);
    tab.socket.say({ t: 'beat' });
    tab.clock.advance(1001);
    expect(tab.socket.all('close')).toEqual([{ t: 'close', ch: follow?.['ch'] }]);
    // On its way when the channel was closed: it comes again.
    tab.socket.say({ t: 'item', ch: follow?.['ch'], item: 6 });
    tab.socket.say({ t: 'item', ch: watch?.['ch'], item: 9 });
    expect([bytes.have, list.have]).toEqual([5, 9]);
    tab.socket.break();
    tab.clock.advance(500);
    tab.socket.welcome();
    expect(tab.socket.all('open').map(({ input }) => input)).toEqual([{ from: 9 }]);
    tab.sign('shown');
    expect(tab.socket.all('open').map(({ input }) => input)).toEqual([{ from: 9 }, { from: 5 }]);
  });

  test('that is shown again soon notices nothing', () => {
    const tab = new Tab();
    tab.follow(true);
    tab.socket.welcome();
    tab.sign('hidden');
    tab.clock.advance(10_000);
    tab.sign('shown');
    tab.socket.say({ t: 'beat' });
    tab.clock.advance(19_000);
    expect(tab.socket.all('close')).toEqual([]);
    expect(tab.socket.all('open')).toHaveLength(1);
  });
});

describe('what is sent', () => {
  test('an item counts as taken when its reader is done with it', async () => {
    const tab = new Tab();
    const done: (() => void)[] = [];
    tab.live.read<string>({
      stream: 'person.follow',
      input: () => ({}),
      item: () => new Promise<void>((resolve) => done.push(resolve)),
    });
    tab.socket.welcome();
    const ch = tab.socket.all('open')[0]?.['ch'];
    for (let at = 0; at < 3; at++) tab.socket.say({ t: 'item', ch, item: 'x'.repeat(40_000) });
    await Promise.resolve();
    expect(tab.socket.all('ack')).toEqual([]);
    done[0]?.();
    await Promise.resolve();
    expect(tab.socket.all('ack')).toEqual([]);
    done[1]?.();
    await Promise.resolve();
    expect(tab.socket.all('ack')).toEqual([{ t: 'ack', ch, bytes: expect.any(Number) as number }]);
    expect(Number(tab.socket.all('ack')[0]?.['bytes'])).toBeGreaterThan(80_000);
  });

  test('a call whose link breaks is never sent again: its caller learns that the outcome is unknown', async () => {
    const tab = new Tab();
    await expect(tab.live.call('person.type', { text: 'x' })).rejects.toThrow('You are offline. Nothing was sent.');
    tab.socket.welcome();
    const failed = tab.live.call('person.type', { text: 'x' }).catch((thrown: unknown) => thrown);
    expect(tab.socket.all('call')).toHaveLength(1);
    tab.socket.break();
    expect(((await failed) as CallFailed).failure.code).toBe('unknown');
    tab.clock.advance(500);
    tab.socket.welcome();
    expect(tab.socket.all('call')).toEqual([]);
  });
});
