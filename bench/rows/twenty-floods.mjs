import { floodRace } from '../lib/flood-race.mjs';
import { kinds } from '../lib/floods.mjs';

export const order = 50;
export const name = '20 floods vs tmux';
export const bar = {
  'plain, speed': { atLeast: 1.3 },
  'log, speed': { atLeast: 2 },
  'tui, speed': { atLeast: 1.3 },
  'unicode, speed': { atLeast: 5 },
  'worst loop lag': { atMost: 60 },
};

export async function run(bench) {
  const count = bench.pick(20, 4);
  const product = await bench.product();
  const tmux = await bench.tmux();
  const figures = {};
  const lags = [];
  for (const kind of kinds) {
    const file = bench.flood(kind, bench.pick(3, 0.25));
    const { speed, lagMs, ours, tmux: theirs } = await floodRace(bench, { file, count, product, tmux });
    figures[`${kind}, speed`] = { value: speed, detail: `${ours.ms.toFixed(0)} ms, tmux ${theirs.ms.toFixed(0)} ms` };
    lags.push([kind, lagMs]);
  }
  const detail = lags.map(([kind, ms]) => `${kind} ${ms.toFixed(0)}`).join(', ');
  figures['worst loop lag'] = { value: Math.max(...lags.map(([, ms]) => ms)), unit: 'ms', detail };
  return figures;
}
