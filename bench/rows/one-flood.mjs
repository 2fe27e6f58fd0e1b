import { floodRace } from '../lib/flood-race.mjs';
import { kinds } from '../lib/floods.mjs';

export const order = 40;
export const name = 'one flood vs tmux';
export const bar = {
  'plain, speed': { atLeast: 1.3 },
  'log, speed': { atLeast: 2 },
  'tui, speed': { atLeast: 1.3 },
  'unicode, speed': { atLeast: 5 },
  'plain, CPU': { atMost: 0.7 },
  'log, CPU': { atMost: 0.45 },
  'tui, CPU': { atMost: 0.9 },
  'unicode, CPU': { atMost: 0.2 },
};

export async function run(bench) {
  const product = await bench.product();
  const tmux = await bench.tmux();
  const figures = {};
  for (const kind of kinds) {
    const file = bench.flood(kind, bench.pick(24, 1));
    const { speed, cpu, ours, tmux: theirs } = await floodRace(bench, { file, count: 1, product, tmux });
    figures[`${kind}, speed`] = { value: speed, detail: `${ours.ms.toFixed(0)} ms, tmux ${theirs.ms.toFixed(0)} ms` };
    figures[`${kind}, CPU`] = { value: cpu, detail: `${ours.cpuMs.toFixed(0)} ms, tmux ${theirs.cpuMs.toFixed(0)} ms` };
  }
  return figures;
}
