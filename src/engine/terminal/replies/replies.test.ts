import { describe, expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../../../../test/support/clocks/manual.ts';
import { Blocks } from '../blocks.ts';
import type { Foreground, ProcessView } from '../channel.ts';
import type { InputMode } from '../../shells/input-mode.ts';
import { MarkScanner } from '../marks.ts';
import { Replies } from './replies.ts';

type Mode = InputMode | undefined;

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
};
const program = (name: string, more: Partial<Foreground> = {}): Foreground => ({
  pid: 2,
  name,
  isLeader: false,
  arguments: [name],
  ...more,
});

/** A far side as it would be seen, and what it prints. */
class Far {
  readonly clock = new ManualClock();
  readonly blocks = new Blocks({ clock: this.clock });
  readonly typed: string[] = [];
  mode: Mode = 'raw';
  front: Foreground = program('vim');
  isReading: boolean | undefined = true;
  looks = 0;
  alternate = false;
  behindPrompt = false;
  /** Printed, and not fetched yet. */
  unread = '';
  isHeld = false;
  readonly #scanner = new MarkScanner({ nonce: 'n0' });
  readonly #held: (() => void)[] = [];
  #end = 0;
  readonly replies: Replies;

  constructor({ seen = true, answeredTo = 0 } = {}) {
    const process: ProcessView = {
      pid: 1,
      foreground: () => this.front,
      cwd: () => undefined,
      inputMode: () => this.mode,
      reads: () => {
        this.looks++;
        return this.isReading;
      },
    };
    this.replies = new Replies({
      clock: this.clock,
      blocks: this.blocks,
      process: seen ? process : undefined,
      offset: () => this.#end,
      fetch: async () => {
        const printed = this.unread;
        this.unread = '';
        this.say(printed);
      },
      alternate: () => this.alternate,
      behindPrompt: () => this.behindPrompt,
      echo: { expect: () => {}, [Symbol.dispose]() {} },
      type: (bytes, mayGo) => {
        const go = (): void => void (mayGo() && this.typed.push(Buffer.from(bytes).toString()));
        if (this.isHeld) this.#held.push(go);
        else go();
      },
      onFault: (thrown) => {
        throw thrown;
      },
      answeredTo,
    });
    onTestFinished(() => this.replies[Symbol.dispose]());
  }

  /** `<A>` stands for a mark of the shell. */
  say(script: string): void {
    const bytes = Buffer.from(script.replace(/<([^>]+)>/g, '\x1b]133;$1;fl=n0\x07'));
    for (const mark of this.#scanner.scan(bytes, this.#end)) this.blocks.accept(mark);
    this.#end += bytes.length;
  }

  /** A query is printed, and parsed at once. */
  async ask(answer = 'answer'): Promise<void> {
    this.say('?');
    this.replies.add(Buffer.from(answer), this.#end);
    await turns();
  }

  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 10) {
      this.clock.advance(10);
      await turns();
    }
  }

  release(): void {
    for (const go of this.#held.splice(0)) go();
  }
}

const running = '<A;n=1>$ <B;n=1>vim\r\n<C;n=1>';

describe('a program that waits for input', () => {
  test('has its answer at once, and answers stay in order', async () => {
    const far = new Far();
    far.say(running);
    far.replies.add(Buffer.from('one'), 1000);
    far.replies.add(Buffer.from('two'), 1000);
    await turns();
    expect(far.typed).toEqual(['one', 'two']);
  });

  test('has it when it reads, not before', async () => {
    const far = new Far();
    far.say(running);
    far.isReading = false;
    await far.ask();
    await far.pass(1000);
    expect(far.typed).toEqual([]);
    far.isReading = true;
    await far.pass(200);
    expect(far.typed).toEqual(['answer']);
  });

  test('never has it when it ends before it reads', async () => {
    const far = new Far();
    far.say(running);
    far.isReading = false;
    await far.ask();
    far.say('<D;0;n=1><A;n=2>$ <B;n=2>');
    far.isReading = true;
    await far.pass(10_000);
    expect([far.typed, far.clock.timers]).toEqual([[], 0]);
  });

  test('is not taken for the shell whose mark was printed and not read', async () => {
    const far = new Far();
    far.say(running);
    far.unread = '<D;0;n=1>';
    await far.ask();
    await far.pass(1000);
    expect(far.typed).toEqual([]);
  });

  test('that never reads costs a look every 100 ms for five seconds, and nothing after', async () => {
    const far = new Far();
    far.say(running);
    far.isReading = false;
    await far.ask();
    await far.pass(6000);
    expect(far.looks).toBeLessThan(60);
    expect([far.typed, far.clock.timers]).toEqual([[], 0]);
  });

  test('may be gone when the turn of the answer comes behind other input', async () => {
    const far = new Far();
    far.say(running);
    far.isHeld = true;
    await far.ask();
    far.say('<D;0;n=1>');
    far.release();
    expect(far.typed).toEqual([]);
  });
});

describe('canonical mode', () => {
  test('no answer is typed into it', async () => {
    const far = new Far();
    far.say(running);
    far.mode = 'lines';
    await far.ask();
    await far.pass(2000);
    expect([far.typed, far.clock.timers]).toEqual([[], 0]);
  });

  test('a program that asks and then leaves it is answered', async () => {
    const far = new Far();
    far.say(running);
    far.mode = 'lines';
    await far.ask();
    far.mode = 'cbreak';
    await far.pass(50);
    expect(far.typed).toEqual(['answer']);
  });

  test('a program that comes after the one that printed the query is not', async () => {
    const far = new Far();
    far.say(running);
    far.mode = 'lines';
    await far.ask();
    far.say('another program draws itself');
    far.mode = 'raw';
    await far.pass(1000);
    expect(far.typed).toEqual([]);
  });
});

describe('at a prompt', () => {
  test.each(['bash', 'zsh', 'fish'])('%s gets no answer to a query of a background job', async (name) => {
    const far = new Far();
    far.front = program(name, { isLeader: true });
    far.say('<A;n=1>$ <B;n=1>');
    await far.ask();
    await far.pass(1000);
    expect(far.typed).toEqual([]);
  });

  test('a shell that asks by itself is answered at once, here and far away', async () => {
    for (const seen of [true, false]) {
      const far = new Far({ seen });
      far.front = program('fish', { isLeader: true });
      far.say('<P;shell=fish;asks=1><A;n=1>');
      await far.ask('one');
      far.say('$ <B;n=1>');
      await far.ask('two');
      expect(far.typed).toEqual(['one', 'two']);
    }
  });

  test('what was asked while the prompt was made is not answered behind it', async () => {
    const far = new Far();
    far.front = program('sh', { arguments: ['sh', 'prompt.sh'] });
    far.isReading = false;
    far.say('<A;n=1>');
    await far.ask();
    far.say('$ <B;n=1>');
    far.isReading = true;
    await far.pass(1000);
    expect(far.typed).toEqual([]);
  });

  test('a builtin of the shell that reads keys is answered', async () => {
    const far = new Far();
    far.front = program('bash', { isLeader: true });
    far.mode = 'cbreak';
    far.say(running);
    await far.ask();
    expect(far.typed).toEqual(['answer']);
  });

  test('a shell without marks inside another program’s terminal gets none in its line editor', async () => {
    const far = new Far();
    far.front = program('bash', { arguments: ['bash', '--norc'] });
    far.say(running);
    await far.ask();
    await far.pass(1000);
    expect(far.typed).toEqual([]);
  });

  test('a script that is read by the same shell is a program like others', async () => {
    const far = new Far();
    far.front = program('bash', { arguments: ['bash', 'menu.sh'] });
    far.say(running);
    await far.ask();
    expect(far.typed).toEqual(['answer']);
  });
});

describe('a far side that cannot be looked at', () => {
  test('is answered when the command has not ended within 300 ms', async () => {
    const far = new Far({ seen: false });
    far.say(running);
    await far.ask();
    await far.pass(250);
    expect(far.typed).toEqual([]);
    await far.pass(200);
    expect(far.typed).toEqual(['answer']);
  });

  test('is not answered when it has', async () => {
    const far = new Far({ seen: false });
    far.say(running);
    await far.ask();
    await far.pass(250);
    far.say('<D;0;n=1>');
    await far.pass(1000);
    expect(far.typed).toEqual([]);
  });

  test('without marks, is not answered once a prompt stands before the cursor', async () => {
    for (const far of [new Far({ seen: false }), new Far()]) {
      far.front = program('ssh');
      await far.ask();
      far.behindPrompt = true;
      await far.pass(1000);
      expect(far.typed).toEqual([]);
    }
  });

  test('is answered soon on the alternate screen', async () => {
    const far = new Far({ seen: false });
    far.say(running);
    far.alternate = true;
    far.behindPrompt = true;
    await far.ask();
    await far.pass(70);
    expect(far.typed).toEqual(['answer']);
  });
});

test('queries that another process has answered, or before the newest mark, are not answered', async () => {
  const far = new Far({ answeredTo: 1000 });
  far.replies.add(Buffer.from('old'), 1000);
  far.replies.add(Buffer.from('new'), 1001);
  await turns();
  expect(far.typed).toEqual(['new']);
});

test('a flood of queries is answered up to a bound', async () => {
  const far = new Far();
  far.isReading = false;
  for (let at = 1; at <= 200; at++) far.replies.add(Buffer.alloc(1024, 'x'), at);
  far.isReading = true;
  await turns();
  expect(far.typed.join('')).toHaveLength(64 << 10);
});

test('a flood of queries in canonical mode costs little to drop', async () => {
  const far = new Far();
  far.say(running);
  far.mode = 'lines';
  const answer = Buffer.from('\x1b[0n');
  for (let count = 0; count < 16_384; count++) far.replies.add(answer, 1000);
  await turns();
  const before = process.cpuUsage();
  far.clock.advance(600);
  await far.replies.decided;
  const { user, system } = process.cpuUsage(before);
  // Processor time: one pass takes a few milliseconds, one pass for each answer most of a second.
  expect((user + system) / 1000).toBeLessThan(250);
  expect(far.typed).toEqual([]);
});
