// Measures Fairlead beside its peers in one run, each row in a process of its own, and prints ratios.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { endLeftovers } from './lib/leftovers.mjs';
import { Report } from './lib/report.mjs';
import { runRow } from './lib/row-runner.mjs';

const help = `npm run bench -- [options]

  --only <pattern>   rows whose name matches this regular expression
  --list             names and bars, without measuring
  --quick            a smoke run of seconds: everything works, the numbers mean little
  --json             the same as data
  --prof <folder>    leave a CPU profile of every row's process there
  --dist <folder>    measure another build than dist/
`;

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    list: { type: 'boolean' },
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    prof: { type: 'string' },
    dist: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  },
});

const wanted = new RegExp(options.only ?? '', 'i');
const files = readdirSync(new URL('./rows/', import.meta.url)).filter((file) => file.endsWith('.mjs'));
const modules = await Promise.all(files.map((file) => import(new URL(`./rows/${file}`, import.meta.url).href)));
const rows = modules
  .map(({ name, bar, order }, index) => ({ name, bar, order, file: files[index] }))
  .filter(({ name }) => wanted.test(name))
  .sort((a, b) => a.order - b.order);

if (options.help) process.stdout.write(help);
else if (options.list) for (const { name, bar } of rows) console.log(`${name}: ${Object.keys(bar).join(', ')}`);
else process.exitCode = await measure();

async function measure() {
  if (rows.length === 0) {
    console.error(`No row matches ${wanted}. See --list.`);
    return 2;
  }
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-bench-'));
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => stopping.abort());
  const report = new Report(options);
  try {
    for (const row of rows) {
      if (stopping.signal.aborted) break;
      report.begin(row);
      report.add(row, await runRow(row, { ...options, folder }, stopping.signal));
    }
    report.end();
  } finally {
    endLeftovers(folder);
    rmSync(folder, { recursive: true, force: true });
  }
  return stopping.signal.aborted ? 130 : report.broken ? 1 : 0;
}
