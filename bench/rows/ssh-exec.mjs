import { besideControlMaster } from '../lib/control-master.mjs';
import { never } from '../lib/product.mjs';

export const order = 202;
export const name = 'a command on an open SSH connection';
export const bar = { 'p50 vs ssh through a ControlMaster': { atMost: 0.3 } };

export async function run(bench) {
  const sshd = await bench.sshd(['SetEnv HOME=/nonexistent']);
  const { link } = await (await sshd.connector(bench)).connect(sshd.request(), never);
  bench.own(link);
  return await besideControlMaster(bench, sshd, async () => await (await link.exec('true', {}, never)).ended);
}
