import { setTimeout as delay } from 'node:timers/promises';
import { interleave, best, ownCpuMs, watchLoop } from '../lib/measure.mjs';
import { never } from '../lib/product.mjs';

export const order = 130;
export const name = '200 KB paste to a stuck child';
export const bar = { 'worst loop lag': { below: 10 }, 'CPU of one core': { below: 2 } };

/** The program has switched its terminal to raw input and reads nothing. */
export async function run(bench) {
  const product = await bench.product();
  const paste = Buffer.from('a line somebody copied from somewhere\r'.repeat(6000).slice(0, 200 << 10));
  const seconds = bench.pick(3, 0.5);
  const { ours } = await interleave(bench.pick(3, 1), {
    ours: async () => {
      const bell = bench.bell();
      const terminal = await product.open(['/bin/sh', '-c', `stty raw -echo; ${bell.command}; exec sleep 1000`]);
      await bell.rung(1);
      await delay(100);
      const cpu = ownCpuMs();
      // Refused when the terminal goes away, which is the end of this.
      const sending = terminal.input.send(paste, 'bench', never).then(
        () => true,
        () => false,
      );
      await delay(seconds * 1000);
      const share = (ownCpuMs() - cpu) / (seconds * 10);
      // Watched after that: a look every millisecond costs more than what is measured.
      const stopWatching = watchLoop();
      await delay(seconds * 1000);
      const lagMs = stopWatching();
      await terminal[Symbol.asyncDispose]();
      if (await sending) throw new Error('The child was not stuck: it took the whole paste.');
      return { lagMs, share };
    },
  });
  return {
    'worst loop lag': { value: best(ours, 'lagMs'), unit: 'ms' },
    'CPU of one core': { value: best(ours, 'share'), unit: '%', detail: `over ${seconds} s` },
  };
}
