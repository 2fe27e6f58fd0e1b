import { Terminal } from '../../src/engine/terminal/terminal.ts';
import { systemClock } from '../../src/system/clock.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { EchoChannel } from './echo-channel.ts';

export const nonce = 'n0nc3';
/** A mark of our shell integration; `forged` is one without the nonce. */
export const mark = (kind: string, rest = ''): string => `\x1b]133;${kind}${rest};fl=${nonce}\x07`;
export const forged = (kind: string, rest = ''): string => `\x1b]133;${kind}${rest}\x07`;

export interface WireOptions {
  readonly cols?: number;
  readonly rows?: number;
  readonly scrollback?: number;
  /** Bytes of output that it keeps. */
  readonly capacity?: number;
  readonly trusted?: boolean;
  readonly clock?: Clock;
  /** Whether the program waits for input; nobody can tell by default. */
  readonly reads?: () => boolean | undefined;
}

export interface Wire extends AsyncDisposable {
  readonly terminal: Terminal;
  readonly channel: EchoChannel;
  /** The far side prints; resolves when all of it is in the log. */
  say(output: string | Uint8Array): Promise<void>;
  /** A prompt, a command, its output and its end, as a shell with integration prints them. */
  ran(command: string, output: string, exitCode?: number): Promise<void>;
}

/** A terminal on a wire whose far end the test is. */
export function openWire(options: WireOptions = {}): Wire {
  const { cols = 80, rows = 24, scrollback = 1000, trusted = true, clock = systemClock } = options;
  const channel = new EchoChannel({ cols, rows }, { echo: false });
  const process = {
    pid: 1,
    foreground: () => undefined,
    cwd: () => undefined,
    inputMode: () => 'raw' as const,
    reads: options.reads,
  };
  const terminal = new Terminal({
    id: 't_test',
    number: 1,
    name: undefined,
    program: 'echo',
    channel: options.reads ? Object.assign(channel, { process }) : channel,
    size: { cols, rows },
    ...(options.capacity !== undefined && { capacity: options.capacity }),
    scrollback,
    clock,
    nonce: trusted ? nonce : undefined,
    release: () => {},
  });
  const say = async (output: string | Uint8Array): Promise<void> => {
    const bytes = typeof output === 'string' ? Buffer.from(output) : output;
    const target = terminal.log.end + bytes.length;
    let arrived = (): void => {};
    const all = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    using _output = terminal.output.on(() => {
      if (terminal.log.end >= target) arrived();
    });
    channel.say(bytes);
    if (terminal.log.end < target) await all;
  };
  let cycle = 0;
  return {
    terminal,
    channel,
    say,
    async ran(command, output, exitCode = 0) {
      const n = `;n=${cycle++}`;
      const typed = `633;E;${command.replace(/[\\;\n]/g, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`)}`;
      await say(`${mark('A', n)}$ ${mark('B', n)}${command}\r\n\x1b]${typed};fl=${nonce}\x07${mark('C', n)}`);
      await say(output);
      await say(mark('D', `;${exitCode}${n}`));
    },
    [Symbol.asyncDispose]: () => terminal[Symbol.asyncDispose](),
  };
}
