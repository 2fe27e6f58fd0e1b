import { readdirSync, readlinkSync } from 'node:fs';

export const order = 20;
export const name = 'isolation';
export const bar = {
  'masters leaked to a child': { atMost: 0 },
  'threads per terminal': { atMost: 0 },
};

/** What children can see of other terminals, and what a terminal costs in threads. */
export async function run(bench) {
  const count = bench.pick(50, 10);
  const product = await bench.product();
  await (await product.open(['true'])).whenEnded;
  const threads = threadCount();
  const terminals = [];
  for (let i = 0; i < count; i++) terminals.push(await product.open(['sleep', '1000']));
  const more = threadCount() - threads;
  const leaks = terminals.map(({ process: { pid } }) => mastersOf(pid));
  return {
    'masters leaked to a child': { value: Math.max(...leaks), unit: '', detail: `the worst of ${count} children` },
    'threads per terminal': {
      value: Math.max(0, more) / count,
      unit: '',
      detail: `${more} more with ${count} terminals`,
    },
  };
}

const threadCount = () => readdirSync('/proc/self/task').length;

function mastersOf(pid) {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).filter((fd) => readlinkSync(`${folder}/${fd}`).endsWith('ptmx')).length;
}
