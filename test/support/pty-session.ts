import type { Ended } from '../../src/engine/terminal/channel.ts';
import { ptyDriver } from '../../src/transports/local/index.ts';

/** A program on a terminal of its own, seen as raw bytes: what a person's terminal would get. */
export interface PtySession extends AsyncDisposable {
  readonly ended: Promise<Ended>;
  /** Waits until the output since the last wait holds this text. Resolves with what came before it. */
  until(text: string): Promise<string>;
  type(text: string): Promise<void>;
}

export async function openSession(argv: readonly string[], env: Readonly<Record<string, string>>): Promise<PtySession> {
  const [program = '', ...args] = argv;
  const target = { argv: [program, ...args] as const, env: { TERM: 'xterm-256color', ...env }, cwd: '/' };
  const channel = await ptyDriver().open(target, { cols: 100, rows: 30 }, AbortSignal.timeout(10_000));
  let seen = '';
  let wake = (): void => {};
  const reading = (async () => {
    for await (const chunk of channel.output) {
      seen += Buffer.from(chunk).toString('latin1');
      wake();
    }
  })();
  return {
    ended: channel.ended,
    async until(text) {
      const limit = AbortSignal.timeout(15_000);
      while (!seen.includes(text)) {
        if (limit.aborted) throw new Error(`No ${JSON.stringify(text)} in ${JSON.stringify(seen.slice(-2000))}`);
        await new Promise<void>((resolve) => {
          wake = resolve;
          limit.addEventListener('abort', () => resolve(), { once: true });
        });
      }
      const at = seen.indexOf(text);
      const before = seen.slice(0, at);
      seen = seen.slice(at + text.length);
      return before;
    },
    type: (text) => channel.write(Buffer.from(text)),
    async [Symbol.asyncDispose]() {
      await channel[Symbol.asyncDispose]();
      await reading;
    },
  };
}
