import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BlockEvent, Blocks } from './blocks.ts';
import { MarkScanner } from './marks.ts';

const nonce = 'n0';

/** A shell's output as text, where `<A>`, `<D;3>` stand for marks of ours and `{A}` for marks of anybody. */
class Played {
  now = 1000;
  readonly blocks: Blocks;
  readonly events: BlockEvent[] = [];
  text = '';
  readonly #scanner = new MarkScanner({ nonce });

  constructor(options: { limit?: number; trustOnly?: boolean } = {}) {
    const clock = { now: () => this.now, monotonic: () => this.now, after: () => ({ [Symbol.dispose]: () => {} }) };
    this.blocks = new Blocks({ clock, ...options });
  }

  play(script: string): this {
    const bytes = script
      .replace(
        /<([A-Z][^>]*)>/g,
        (_, mark: string) => `\x1b]${mark.startsWith('E') ? 633 : 133};${mark};fl=${nonce}\x07`,
      )
      .replace(/\{([A-Z][^}]*)\}/g, '\x1b]133;$1\x07');
    const at = this.text.length;
    this.text += bytes;
    for (const mark of this.#scanner.scan(Buffer.from(bytes), at)) this.events.push(...this.blocks.accept(mark));
    return this;
  }

  output(): string[] {
    return this.blocks.list.map((block) => this.text.slice(block.outputFrom, block.outputTo));
  }

  get types(): string[] {
    return this.events.map(({ type }) => type);
  }
}

const played = (script: string, options?: ConstructorParameters<typeof Played>[0]): Played =>
  new Played(options).play(script);

describe('Blocks', () => {
  it('tells where the reader of the terminal last changed: command begun, ended, prompt complete', () => {
    const shell = played('x', { trustOnly: true });
    expect(shell.blocks.turnedAt).toBe(0);
    for (const step of ['<A;n=1>$ <B;n=1>', 'cat f\r\n<C;n=1>', 'text<D;0;n=1>', '<A;n=2>$ <B;n=2>']) {
      expect(shell.play(step).blocks.turnedAt).toBe(shell.text.length);
    }
    // Another program cannot say so.
    const before = shell.text.length;
    expect(shell.play('{C}{D;0}').blocks.turnedAt).toBe(before);
    // A shell that reads answers at its prompt may ask while it draws it.
    const asking = played('<P;shell=fish;asks=1><A;n=1>$ <B;n=1>', { trustOnly: true });
    expect(asking.blocks.turnedAt).toBe(0);
    expect(asking.play('<C;n=1>').blocks.turnedAt).toBe(asking.text.length);
  });

  it('R-RPC-041 tells prompt, command, output and exit code of a command', () => {
    const shell = played('<A;n=1>$ <B;n=1>');
    expect(shell.blocks.state).toBe('prompt');
    expect(shell.blocks.promptAt).toBe(shell.text.length);
    shell.play('ls\r\n<E;ls;n=1><C;n=1>a\r\nb\r\n');
    expect(shell.blocks.state).toBe('running');
    expect(shell.blocks.current).toMatchObject({ command: 'ls', startedAt: 1000, exitCode: undefined });
    shell.now = 1500;
    shell.play('<D;2;n=1><A;n=2>$ <B;n=2>');
    expect(shell.blocks.state).toBe('prompt');
    expect(shell.blocks.last).toMatchObject({
      id: 1,
      command: 'ls',
      exitCode: 2,
      startedAt: 1000,
      endedAt: 1500,
      trusted: true,
    });
    expect(shell.output()).toEqual(['a\r\nb\r\n']);
    expect(shell.types).toEqual(['prompt', 'started', 'ended', 'prompt']);
  });

  it('works with marks of a shell that knows nothing of us', () => {
    const shell = played('{A}$ {B}ls\r\n{C}out{D;0}{A}$ {B}');
    expect(shell.blocks.last).toMatchObject({ exitCode: 0, trusted: false });
    expect(shell.output()).toEqual(['out']);
  });

  it('loses no bytes when marks are missing', () => {
    expect(played('{A}$ {C}one{A}$ {C}two{C}three').output()).toEqual(['one', 'two', 'three']);
    expect(played('{C}one{D}{D;1}{D}').blocks.list).toHaveLength(1);
    expect(played('{D;0}{B}').blocks.list).toHaveLength(0);
    const shell = played('{A}$ {C}one{A}$ ');
    expect(shell.blocks.last).toMatchObject({ exitCode: undefined });
    expect(shell.blocks.state).toBe('prompt');
  });

  it('does not believe a program that prints marks, once the integration has spoken', () => {
    const shell = played('<A;n=1>$ <B;n=1>x\r\n<C;n=1>a{D;0}{A}$ {B}b{C}c');
    expect(shell.blocks.state).toBe('running');
    shell.play('<D;1;n=1>');
    expect(shell.blocks.list).toHaveLength(1);
    expect(shell.blocks.last?.exitCode).toBe(1);
    expect(played('{A}${B}{C}x', { trustOnly: true }).blocks.state).toBe('unknown');
  });

  it('does not believe its own marks a second time: output shown again proves nothing', () => {
    const first = '<A;n=1>$ <B;n=1>x\r\n<C;n=1>a<D;0;n=1>';
    const shell = played(`${first}<A;n=2>$ <B;n=2>cat log\r\n<C;n=2>${first}<A;n=2>$ <B;n=2>`);
    expect(shell.blocks.state).toBe('running');
    shell.play('<D;3;n=2>');
    expect(shell.blocks.list.map(({ exitCode }) => exitCode)).toEqual([0, 3]);
  });

  it('takes a redrawn prompt for the same prompt', () => {
    const shell = played('<A;n=1>$ <B;n=1>\x1b[2J<A;n=1>$ <B;n=1>ls\r\n<C;n=1>a<D;0;n=1>');
    expect(shell.blocks.list).toHaveLength(1);
    expect(shell.output()).toEqual(['a']);
  });

  it('starts no block for an empty line or Ctrl-C at the prompt', () => {
    const shell = played('<A;n=1>$ <B;n=1>\r\n<A;n=2>$ <B;n=2>^C\r\n<A;n=3>$ <B;n=3>');
    expect(shell.blocks.list).toHaveLength(0);
    expect(shell.blocks.state).toBe('prompt');
  });

  it('forgets what was believed before the integration spoke', () => {
    const shell = played('{A}$ {B}{C}out<A;n=1>$ <B;n=1>');
    expect(shell.blocks.state).toBe('prompt');
    expect(shell.blocks.current).toBeUndefined();
  });

  it('scopes nested shells by aid', () => {
    const shell = played('{A;aid=1}$ {B}bash\r\n{C}{A;aid=2}% {D;5;aid=2}more{D;0;aid=1}');
    expect(shell.blocks.list.map(({ exitCode }) => exitCode)).toEqual([0]);
  });

  it('leaves modes that a line editor switches, and its queries, out of the command it echoes', () => {
    const shell = played('<A;n=1>$ <I;n=1>\x1b[?2004h\x1b[6nls -l\x1b[?1;2004l\r\na\r\n<D;0;n=1>');
    expect(shell.blocks.last).toMatchObject({ command: 'ls -l', exitCode: 0 });
  });

  it('takes the end of the line for the start where a shell cannot announce it', () => {
    const shell = played('<D;0;n=0><A;n=1>$ <I;n=1>ls -l\r\na\r\n<D;4;n=1><A;n=2>$ <I;n=2>');
    expect(shell.blocks.last).toMatchObject({ command: 'ls -l', exitCode: 4, inferredStart: true });
    expect(shell.output()).toEqual(['a\r\n']);
    shell.play('\r\n<D;4;n=2><A;n=3>$ <I;n=3>^C\r\n<D;130;n=3><A;n=4>$ <I;n=4>');
    expect(shell.blocks.list).toHaveLength(1);
  });

  it('R-RPC-045 knows an unfinished command, and that it has not started', () => {
    const shell = played('<A;n=1>$ <I;n=1>echo "a\r\n<P;k=s;n=1>> <I;n=1>');
    expect(shell.blocks.incomplete).toBe(true);
    expect(shell.blocks.state).toBe('prompt');
    expect(shell.blocks.list).toHaveLength(0);
    shell.play('b"\r\na\r\nb\r\n<D;0;n=1><A;n=2>$ <I;n=2>');
    expect(shell.output()).toEqual(['a\r\nb\r\n']);
    expect(shell.blocks.incomplete).toBe(false);
    const other = played('<A;n=1>$ <B;n=1>echo "a\r\n<P;k=s;n=1>> ');
    expect(other.blocks.incomplete).toBe(true);
    expect(other.play('b"\r\n<C;n=1>').blocks.state).toBe('running');
  });

  it('believes a directory only while no command runs', () => {
    const shell = played('<A;n=1>\x1b]7;file:///home\x07$ <B;n=1>x\r\n<C;n=1>\x1b]7;file:///forged\x07<D;0;n=1>');
    expect(shell.blocks.cwd).toBe('/home');
    expect(shell.blocks.last?.cwd).toBe('/home');
    expect(shell.play('\x1b]7;file:///new\x07').blocks.cwd).toBe('/new');
  });

  it('ends with the far side', () => {
    const shell = played('<A;n=1>$ <B;n=1>exec x\r\n<C;n=1>abc');
    const events = shell.blocks.end(shell.text.length);
    expect(events).toHaveLength(1);
    expect(shell.output()).toEqual(['abc']);
    expect(shell.blocks.state).toBe('unknown');
    expect(shell.blocks.end(0)).toEqual([]);
  });

  it('keeps a bounded number of blocks and never reuses an id', () => {
    const shell = new Played({ limit: 3 });
    for (let index = 0; index < 10; index++) shell.play('{A}${B}{C}x{D;0}');
    expect(shell.blocks.list.map(({ id }) => id)).toEqual([8, 9, 10]);
    expect(shell.blocks.find(9)?.id).toBe(9);
    expect(shell.blocks.find(2)).toBeUndefined();
  });

  it('keeps blocks ordered and apart whatever the marks', () => {
    const mark = fc.constantFrom(
      '<A;n=1>',
      '<B;n=1>',
      '<C;n=1>',
      '<D;0;n=1>',
      '<A;n=2>',
      '<I;n=2>',
      '<P;k=s;n=2>',
      '{A}',
      '{B}',
      '{C}',
      '{D;1}',
      '{I}',
      '{P;k=s}',
      '{E;x}',
      'x\r\n',
      '\r\n',
    );
    fc.assert(
      fc.property(fc.array(mark, { maxLength: 40 }), (marks) => {
        const shell = played(marks.join(''));
        let last = 0;
        for (const block of shell.blocks.list) {
          expect(block.outputFrom).toBeGreaterThanOrEqual(last);
          last = block.outputTo ?? block.outputFrom;
          expect(last).toBeGreaterThanOrEqual(block.outputFrom);
        }
        expect(shell.blocks.state === 'running').toBe(shell.blocks.current !== undefined);
      }),
    );
  });
});
