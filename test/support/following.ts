import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { z } from 'zod';
import { type Caller, call } from '../../src/engine/call/call.ts';
import type { ConnectedClient } from '../../src/engine/call/connected-client.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { Operation } from '../../src/engine/call/operation.ts';
import type { Terminal } from '../../src/engine/terminal/terminal.ts';
import { defaultStreamSettings, type StreamSettings } from '../../src/streams/settings.ts';
import { Streams, streams } from '../../src/streams/streams.ts';
import { anyTerminalSource } from '../../src/streams/terminal-source.ts';
import { ManualClock } from './clocks/manual.ts';
import { EchoChannel } from './echo-channel.ts';
import { engineWith } from './engine.ts';

/** An engine whose terminals say what a test tells them to, with time that stands still, and calls on it. */
export class Following implements AsyncDisposable {
  readonly clock = new ManualClock(1_800_000_000_000);
  readonly engine: Engine;
  readonly #folder = mkdtempSync(join(tmpdir(), 'fairlead-following-'));

  constructor(settings: Partial<StreamSettings> = {}) {
    const made = (engine: Engine): Streams =>
      new Streams(engine, {
        settings: { ...defaultStreamSettings, ...settings },
        sources: [anyTerminalSource(engine)],
      });
    this.engine = engineWith(this.#folder, {}, { parts: [[streams, made]], clock: this.clock });
  }

  get streams(): Streams {
    return this.engine.service(streams);
  }

  /** A terminal, its URI, and what makes it print. Printing resolves when the output is in its log. */
  async terminal(owner?: string): Promise<FollowedTerminal> {
    const size = { cols: 80, rows: 24 };
    const channel = new EchoChannel(size, { echo: false });
    const opened = { channel, program: 'sh', ...(owner !== undefined && { owner }) };
    const terminal = await this.engine.adopt({ target: 'echo', size }, opened);
    return {
      terminal,
      channel,
      uri: `terminal://${terminal.id}/output`,
      async say(text) {
        const end = terminal.log.end + Buffer.byteLength(text);
        channel.say(text);
        while (terminal.log.end < end) await new Promise((resolve) => setImmediate(resolve));
      },
      async end() {
        channel.end();
        while (!terminal.ended) await new Promise((resolve) => setImmediate(resolve));
      },
    };
  }

  /** Calls as a client would make them; without `connected`, one that has no connection. */
  async run<In extends z.ZodType, Out extends z.ZodType>(
    op: Operation<In, Out>,
    input: z.input<In>,
    who: Partial<Caller> & { readonly connected?: ConnectedClient | undefined } = {},
  ): Promise<z.output<Out>> {
    const caller: Caller = { name: 'me', principal: 'me', origin: 'mcp', may: () => true, ...who };
    return await call(op, input, { engine: this.engine, caller, signal: AbortSignal.timeout(20_000) });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.engine[Symbol.asyncDispose]();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

export interface FollowedTerminal {
  readonly terminal: Terminal;
  readonly channel: EchoChannel;
  readonly uri: string;
  readonly say: (text: string) => Promise<void>;
  readonly end: () => Promise<void>;
}
