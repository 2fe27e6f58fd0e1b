import { best, interleave } from '../lib/measure.mjs';

export const order = 80;
export const name = '500 terminals ready';
export const bar = { 'time vs tmux': { atMost: 1 } };

/** From the first request until the last program has spoken. */
export async function run(bench) {
  const count = bench.pick(500, 30);
  const bell = bench.bell();
  const argv = ['/bin/sh', '-c', `echo ready; ${bell.command}; exec sleep 1000`];
  const product = await bench.product();

  const results = await interleave(bench.pick(3, 1), {
    ours: async () => {
      const began = performance.now();
      const terminals = [];
      const ready = bell.rung(count);
      for (let i = 0; i < count; i++) terminals.push(await product.open(argv));
      await Promise.all([ready, ...terminals.map(spoken)]);
      const ms = performance.now() - began;
      await Promise.all(terminals.map((terminal) => terminal[Symbol.asyncDispose]()));
      return ms;
    },
    tmux: async () => {
      const tmux = await bench.tmux();
      const control = await tmux.control();
      const began = performance.now();
      const ready = bell.rung(count);
      for (let i = 0; i < count; i++) void control.command(`new-window -d ${argv.map(quoted).join(' ')}`);
      await ready;
      const ms = performance.now() - began;
      await control[Symbol.asyncDispose]();
      await tmux[Symbol.asyncDispose]();
      return ms;
    },
  });
  const [ours, tmux] = [best(results.ours), best(results.tmux)];
  return { 'time vs tmux': { value: ours / tmux, detail: `${ours.toFixed(0)} ms, tmux ${tmux.toFixed(0)} ms` } };
}

function spoken(terminal) {
  if (terminal.log.end > 0) return undefined;
  return new Promise((resolve) => {
    const listening = terminal.output.on(() => {
      listening[Symbol.dispose]();
      resolve();
    });
  });
}

const quoted = (word) => `'${word}'`;
