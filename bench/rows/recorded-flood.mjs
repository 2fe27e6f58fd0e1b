import { mkdirSync, rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { kinds } from '../lib/floods.mjs';
import { best, interleave, ownCpuMs } from '../lib/measure.mjs';

export const order = 56;
export const name = 'a recorded flood, keyframes vs none';
export const bar = Object.fromEntries(kinds.map((kind) => [`${kind}, speed`, { atLeast: 0.9 }]));

/** Until the program has come to the gate and sits still. */
const settleMs = 100;

/** From the first byte let loose until the last one is in the log, and all work for the cast until it is closed. */
export async function run(bench) {
  const product = await bench.product();
  const { Recordings } = await bench.load('engine/recording/recordings');
  const dir = bench.path('casts');
  mkdirSync(dir, { recursive: true });
  const limits = { idleTimeLimit: 2, maxDuration: 0, inactivityTimeout: 0 };
  const open = (parts) => bench.own(new Recordings({ dir, ...limits, clock: product.clock, parts }));
  const [keyed, plain] = [open({}), open({ keyframes: false })];
  const figures = {};
  for (const kind of kinds) {
    const file = bench.flood(kind, bench.pick(24, 1));
    const flood = (recordings) => () => recordedFlood({ bench, product, recordings, file });
    const results = await interleave(bench.rounds * 2, { keyed: flood(keyed), plain: flood(plain) });
    const [ours, without] = [results.keyed, results.plain].map((runs) => ({
      ms: best(runs, 'ms'),
      cpuMs: best(runs, 'cpuMs'),
    }));
    figures[`${kind}, speed`] = {
      value: without.ms / ours.ms,
      detail: `${ours.ms.toFixed(0)} ms, none ${without.ms.toFixed(0)} ms; CPU ${ours.cpuMs.toFixed(0)} and ${without.cpuMs.toFixed(0)} ms`,
    };
    rmSync(dir, { recursive: true, force: true });
    mkdirSync(dir, { recursive: true });
  }
  return figures;
}

async function recordedFlood({ bench, product, recordings, file }) {
  const gate = bench.gate();
  const terminal = await product.open(gate.behind(`exec cat ${file}`));
  const { recordingId } = await recordings.start(terminal);
  const over = ended(recordings, recordingId);
  await delay(settleMs);
  const [began, cpu] = [performance.now(), ownCpuMs()];
  gate.open(1);
  await terminal.whenEnded;
  const ms = performance.now() - began;
  const { stopReason } = await over;
  if (stopReason !== 'session_exit') throw new Error(`The recording ended with ${stopReason}.`);
  const cpuMs = ownCpuMs() - cpu;
  await terminal[Symbol.asyncDispose]();
  return { ms, cpuMs };
}

const ended = (recordings, id) =>
  new Promise((resolve) => {
    const listening = recordings.finished.on((result) => {
      if (result.recordingId !== id) return;
      listening[Symbol.dispose]();
      resolve(result);
    });
  });
