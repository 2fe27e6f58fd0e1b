// The process of one row: measures, answers its parent, puts away what it started.
import { Bench } from './bench.mjs';

const { file, ...settings } = JSON.parse(process.argv[2]);
const { run } = await import(new URL(`../rows/${file}`, import.meta.url).href);
const bench = new Bench(settings);
let answer;
try {
  answer = { figures: await run(bench) };
} catch (thrown) {
  answer = { error: thrown?.stack ?? String(thrown) };
} finally {
  await bench.close();
}
process.send(answer, () => process.disconnect());
// A peer's package may hold the loop open; --cpu-prof is written by an orderly exit only.
setTimeout(() => process.exit(), 1000).unref();
process.once('disconnect', () => process.exit());
