import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { kinds } from '../lib/floods.mjs';
import { best, interleave, ownCpuMs } from '../lib/measure.mjs';

export const order = 55;
export const name = 'a recorded flood, redacted vs not';
export const bar = Object.fromEntries(kinds.map((kind) => [`${kind}, speed`, { atLeast: 0.9 }]));

/** Until the program has come to the gate and sits still. */
const settleMs = 100;

/** From the first byte let loose until the cast is closed. The same recorder twice; one of the two masks secrets. */
export async function run(bench) {
  const product = await bench.product();
  const [{ Recordings }, { Redactor }] = await Promise.all([
    bench.load('engine/recording/recordings'),
    bench.load('engine/redaction/redactor'),
  ]);
  const redactor = new Redactor({ key: randomBytes(32) });
  const dir = bench.path('casts');
  mkdirSync(dir, { recursive: true });
  const limits = { idleTimeLimit: 2, maxDuration: 0, inactivityTimeout: 0 };
  const recordings = bench.own(new Recordings({ dir, ...limits, clock: product.clock, redactor: () => redactor }));
  const figures = {};
  for (const kind of kinds) {
    const file = bench.flood(kind, bench.pick(24, 1));
    const flood = (redact) => () => recordedFlood({ bench, product, recordings, file, redact });
    const { masked, plain } = await interleave(bench.rounds * 2, { masked: flood(true), plain: flood(false) });
    const [ours, without] = [masked, plain].map((runs) => ({ ms: best(runs, 'ms'), cpuMs: best(runs, 'cpuMs') }));
    const cpu = `CPU ${ours.cpuMs.toFixed(0)} and ${without.cpuMs.toFixed(0)} ms`;
    figures[`${kind}, speed`] = {
      value: without.ms / ours.ms,
      detail: `${ours.ms.toFixed(0)} ms, not redacted ${without.ms.toFixed(0)} ms; ${cpu}`,
    };
    rmSync(dir, { recursive: true, force: true });
    mkdirSync(dir, { recursive: true });
  }
  return figures;
}

async function recordedFlood({ bench, product, recordings, file, redact }) {
  const gate = bench.gate();
  const terminal = await product.open(gate.behind(`exec cat ${file}`));
  const { recordingId } = await recordings.start(terminal, { redact });
  await delay(settleMs);
  const [began, cpu] = [performance.now(), ownCpuMs()];
  gate.open(1);
  await terminal.whenEnded;
  const { stopReason } = await ended(recordings, recordingId);
  const result = { ms: performance.now() - began, cpuMs: ownCpuMs() - cpu };
  if (stopReason !== 'session_exit') throw new Error(`The recording ended with ${stopReason}.`);
  await terminal[Symbol.asyncDispose]();
  return result;
}

const ended = (recordings, id) =>
  new Promise((resolve) => {
    const listening = recordings.finished.on((result) => {
      if (result.recordingId !== id) return;
      listening[Symbol.dispose]();
      resolve(result);
    });
  });
