import { env } from '../lib/setting.mjs';
import { best, interleave, nowNs, percentile } from '../lib/measure.mjs';
import * as nodePty from '../peers/node-pty.mjs';

export const order = 60;
export const name = 'a child writes, its text is readable';
export const bar = {
  'p50 vs tmux control mode': { atMost: 1.2 },
  'p50 vs node-pty + xterm.write': { atMost: 0.12 },
  'p99 vs tmux control mode': { atMost: 2 },
};

const pattern = /tick (\d+)\./g;

/** A quiet machine, a line every few milliseconds that says when it was written. */
export async function run(bench) {
  const ticks = bench.pick(400, 20);
  const product = await bench.product();
  const tmux = await bench.tmux();
  const control = bench.own(await tmux.control());

  const contenders = (count, pauseUs) => {
    const argv = [bench.compiled('ticker'), String(count), String(pauseUs)];
    return {
      ours: () => ourLatencies(product, argv),
      tmux: () => tmuxLatencies(tmux, control, argv, count),
      ...(nodePty.available && { nodePty: () => nodePtyLatencies(argv, count) }),
    };
  };
  // Servers run for days: their compiled code is measured, not the compiler at work beside it.
  await interleave(1, contenders(25 * ticks, 300));
  const results = await interleave(bench.rounds, contenders(ticks, 4000));
  const at = (runs, share) => best(runs.map((latencies) => percentile(latencies, share))) / 1000;
  const show = (ours, peer, theirs) => `${ours.toFixed(0)} µs, ${peer} ${theirs.toFixed(0)} µs`;
  const [p50, p99] = [at(results.ours, 0.5), at(results.ours, 0.99)];
  const [tmux50, tmux99] = [at(results.tmux, 0.5), at(results.tmux, 0.99)];
  const node50 = results.nodePty && at(results.nodePty, 0.5);
  return {
    'p50 vs tmux control mode': { value: p50 / tmux50, detail: show(p50, 'tmux', tmux50) },
    'p50 vs node-pty + xterm.write': node50
      ? { value: p50 / node50, detail: show(p50, 'node-pty', node50) }
      : { skipped: 'node-pty is not installed' },
    'p99 vs tmux control mode': { value: p99 / tmux99, detail: show(p99, 'tmux', tmux99) },
  };
}

/** Someone waits for the output, and reads the rows below the last one they saw. */
async function ourLatencies(product, argv) {
  const terminal = await product.open(argv);
  const watching = terminal.feed.parseEagerly();
  const latencies = [];
  let row = 0;
  const listening = terminal.output.on(() => {
    for (const { text } of terminal.screen.rowTexts(row)) {
      if (!text.startsWith('tick ') || !text.endsWith('.')) continue;
      latencies.push(nowNs() - Number(text.slice(5, -1)));
      row++;
    }
  });
  await terminal.whenEnded;
  listening[Symbol.dispose]();
  watching[Symbol.dispose]();
  await terminal[Symbol.asyncDispose]();
  return latencies;
}

async function tmuxLatencies(tmux, control, argv, ticks) {
  const latencies = [];
  await new Promise((resolve, reject) => {
    control.onOutput = (_pane, text) => {
      for (const [, written] of text.matchAll(pattern)) latencies.push(nowNs() - Number(written));
      if (latencies.length >= ticks) resolve();
    };
    tmux.open(argv).catch(reject);
  });
  control.onOutput = () => {};
  return latencies;
}

async function nodePtyLatencies(argv, ticks) {
  const latencies = [];
  let row = 0;
  const screen = nodePty.openScreen(argv, ({ buffer: { active } }) => {
    for (let text; (text = active.getLine(row)?.translateToString(true)) && text.endsWith('.'); row++) {
      latencies.push(nowNs() - Number(text.slice(5, -1)));
    }
  });
  await screen.ended;
  await screen[Symbol.asyncDispose]();
  if (latencies.length === 0) throw new Error(`node-pty showed none of ${ticks} lines under ${env.TERM}.`);
  return latencies;
}
