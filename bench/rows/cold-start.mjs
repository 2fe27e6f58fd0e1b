import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { env } from '../lib/setting.mjs';
import { best, interleave } from '../lib/measure.mjs';

export const order = 140;
export const name = 'cold start of `fairlead mcp`';
export const bar = { 'to the first answer vs a bare SDK server': { atMost: 1.3 } };

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
};

export async function run(bench) {
  const home = bench.path('home');
  mkdirSync(home, { recursive: true });
  const product = join(dirname(fileURLToPath(bench.dist)), 'bin', 'fairlead.js');
  const bare = fileURLToPath(new URL('../peers/bare-server.mjs', import.meta.url));
  const results = await interleave(bench.pick(10, 2), {
    ours: () => firstAnswer([product, 'mcp'], home),
    bare: () => firstAnswer([bare], home),
  });
  const [ours, theirs] = [best(results.ours), best(results.bare)];
  const detail = `${ours.toFixed(0)} ms, bare ${theirs.toFixed(0)} ms`;
  return { 'to the first answer vs a bare SDK server': { value: ours / theirs, detail } };
}

/** From before the process exists until its first answer, in ms. */
async function firstAnswer(argv, home) {
  const began = performance.now();
  const child = spawn(process.execPath, argv, {
    cwd: home,
    env: { ...env, HOME: home, FAIRLEAD_HOME: home },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const closed = once(child, 'close');
  let complaints = '';
  child.stderr.on('data', (data) => {
    complaints += data;
  });
  child.stdin.on('error', () => {});
  child.stdin.write(`${JSON.stringify(initialize)}\n`);
  const answer = await Promise.race([once(child.stdout, 'data'), closed.then(() => undefined)]);
  const ms = performance.now() - began;
  child.stdin.end();
  const limit = setTimeout(() => child.kill('SIGKILL'), 5000);
  await closed;
  clearTimeout(limit);
  if (answer === undefined || !String(answer[0]).includes('"result"'))
    throw new Error(`${argv.join(' ')}: ${complaints}`);
  return ms;
}
