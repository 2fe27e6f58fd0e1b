// Our side: terminals of the build, opened as the engine opens them.
import { env, scrollback, size } from './setting.mjs';

export const never = new AbortController().signal;

export class Product {
  static async load(bench) {
    const [{ ptyDriver }, { Terminal }, { systemClock }] = await Promise.all([
      bench.load('transports/local/index'),
      bench.load('engine/terminal/terminal'),
      bench.load('system/clock'),
    ]);
    return new Product(ptyDriver(), Terminal, systemClock);
  }

  #transport;
  #Terminal;
  #terminals = new Set();

  constructor(transport, Terminal, clock) {
    this.#transport = transport;
    this.#Terminal = Terminal;
    this.clock = clock;
  }

  /** A bare channel: a PTY and nothing behind it. */
  channel(argv) {
    return this.#transport.open({ argv, env }, size, never);
  }

  /** A channel with a memory. */
  async open(argv) {
    const channel = await this.channel(argv);
    const terminal = new this.#Terminal({
      id: `t_${this.#terminals.size}`,
      number: this.#terminals.size,
      name: undefined,
      program: argv[0],
      channel,
      size,
      scrollback,
      clock: this.clock,
      nonce: undefined,
      release: () => this.#terminals.delete(terminal),
    });
    this.#terminals.add(terminal);
    return terminal;
  }

  /** The screen's rows, top first. */
  rows(terminal) {
    return terminal.screen.rowTexts(terminal.screen.viewportTop).map(({ text }) => text);
  }

  async [Symbol.asyncDispose]() {
    await Promise.all([...this.#terminals].map((terminal) => terminal[Symbol.asyncDispose]()));
  }
}
