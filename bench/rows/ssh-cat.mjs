import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { truncateSync, writeFileSync } from 'node:fs';
import { best, interleave } from '../lib/measure.mjs';
import { never } from '../lib/product.mjs';

export const order = 204;
export const name = '512 MB of output over SSH';
export const bar = { 'time vs `ssh host cat`': { atMost: 1.1 } };

export async function run(bench) {
  const sshd = await bench.sshd(['SetEnv HOME=/nonexistent']);
  const bytes = bench.pick(512, 16) << 20;
  const file = bench.path('output');
  writeFileSync(file, '');
  truncateSync(file, bytes);
  const { link } = await (await sshd.connector(bench)).connect(sshd.request(), never);
  bench.own(link);
  const results = await interleave(bench.rounds, {
    ours: async () => {
      const began = performance.now();
      const process = await link.exec(`cat ${file}`, {}, never);
      let seen = 0;
      for await (const chunk of process.stdout) seen += chunk.length;
      if (seen !== bytes) throw new Error(`${seen} bytes came, not ${bytes}.`);
      return performance.now() - began;
    },
    theirs: async () => {
      const began = performance.now();
      const child = spawn('ssh', [...sshd.arguments, '127.0.0.1', `cat ${file}`], { stdio: 'ignore' });
      const [code] = await once(child, 'exit');
      if (code !== 0) throw new Error(`ssh ended with ${code}.`);
      return performance.now() - began;
    },
  });
  const [ours, theirs] = [best(results.ours), best(results.theirs)];
  const speed = (ms) => `${((bytes / 1e6 / ms) * 1000).toFixed(0)} MB/s`;
  return {
    'time vs `ssh host cat`': { value: ours / theirs, detail: `${speed(ours)}, ssh ${speed(theirs)}` },
  };
}
