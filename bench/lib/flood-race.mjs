// One or many floods at once, ours and tmux's: from the first byte let loose until the last one is on the screen.
import { setTimeout as delay } from 'node:timers/promises';
import { lastLine } from './floods.mjs';
import { best, cpuMsOf, interleave, ownCpuMs, watchLoop } from './measure.mjs';
import { never } from './product.mjs';

/** Until everybody has come to the gate and sits still. */
const settleMs = 150;

/** @returns {Promise<{ speed: number, cpu: number, lagMs: number, ours: object, tmux: object }>} ratios of the best */
export async function floodRace(bench, { file, count, product, tmux }) {
  const gate = bench.gate();
  const done = bench.bell();
  const results = await interleave(bench.rounds, {
    ours: () => ourFlood({ product, gate, argv: gate.behind(`exec cat ${file}`), count }),
    tmux: () => tmuxFlood({ tmux, gate, file, done, count }),
  });
  const [ours, theirs] = [results.ours, results.tmux].map((runs) => ({
    ms: best(runs, 'ms'),
    cpuMs: best(runs, 'cpuMs'),
  }));
  const lagMs = best(results.ours, 'lagMs');
  return { speed: theirs.ms / ours.ms, cpu: ours.cpuMs / theirs.cpuMs, lagMs, ours, tmux: theirs };
}

async function ourFlood({ product, gate, argv, count }) {
  const terminals = await Promise.all(Array.from({ length: count }, () => product.open(argv)));
  await delay(settleMs);
  const stopWatching = watchLoop();
  const [began, cpu] = [performance.now(), ownCpuMs()];
  gate.open(count);
  await Promise.all(
    terminals.map(async (terminal) => {
      await terminal.whenEnded;
      await terminal.sync(never);
    }),
  );
  const result = { ms: performance.now() - began, cpuMs: ownCpuMs() - cpu, lagMs: stopWatching() };
  for (const terminal of terminals) mustShow(product.rows(terminal), 'our screen');
  await Promise.all(terminals.map((terminal) => terminal[Symbol.asyncDispose]()));
  return result;
}

/**
 * tmux says nothing when a flood is parsed, and drops the tail of a program that exits. So the program stays, asks the
 * terminal how it is (DSR) and rings when the answer comes: that is after everything before the question.
 */
async function tmuxFlood({ tmux, gate, file, done, count }) {
  const ask = `printf '\\033[5n'; head -c 4 > /dev/null; ${done.command}; exec sleep 1000`;
  const argv = gate.behind(`stty -icanon -echo; cat ${file}; ${ask}`);
  const panes = [];
  for (let i = 0; i < count; i++) panes.push(await tmux.open(argv));
  await delay(settleMs);
  const [began, cpu] = [performance.now(), cpuMsOf(tmux.pid)];
  gate.open(count);
  await done.rung(count);
  const result = { ms: performance.now() - began, cpuMs: cpuMsOf(tmux.pid) - cpu };
  for (const pane of panes) {
    mustShow((await tmux.text(pane)).split('\n'), 'tmux');
    await tmux.close(pane);
  }
  return result;
}

function mustShow(rows, where) {
  if (!rows.some((row) => row.trimEnd() === lastLine)) throw new Error(`The end of the flood is not on ${where}.`);
}
