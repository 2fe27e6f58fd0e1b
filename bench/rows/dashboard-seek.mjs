import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { percentile } from '../lib/measure.mjs';
import { env } from '../lib/setting.mjs';

export const order = 150;
export const name = 'seeking in a recording on the dashboard';
export const bar = { 'p99 beside 150 ms': { atMost: 1 } };

const limitMs = 150;
const browsers = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** From the press on the scrubber until the screen of that moment is drawn, in a real browser on loopback. */
export async function run(bench) {
  const executablePath = browsers.find((path) => existsSync(path));
  if (executablePath === undefined) return { 'p99 beside 150 ms': { skipped: 'no browser is installed' } };
  const home = bench.path('home');
  const casts = bench.path('casts');
  mkdirSync(home, { recursive: true });
  mkdirSync(casts, { recursive: true });
  const id = '00112233445566aa';
  const bytes = writeCast(join(casts, `terminal-1700000000000-${id}.cast`), bench.pick(600, 60));
  const program = join(dirname(fileURLToPath(bench.dist)), 'bin', 'fairlead.js');
  const server = bench.own(await serve(program, home, casts));
  const { chromium } = createRequire(import.meta.url)('playwright-core');
  const browser = bench.own(await launch(chromium, executablePath));
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage();
  await page.goto(await server.link());
  await page.getByRole('heading', { name: 'Now' }).waitFor();
  await page.goto(`${server.url}/recordings/${id}`);
  await page.getByRole('slider', { name: 'Moment' }).waitFor();
  const times = await page.evaluate(seekOften, bench.pick(300, 20));
  const [p50, p99] = [percentile(times, 0.5), percentile(times, 0.99)];
  const detail = `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, longest ${Math.max(...times).toFixed(0)} ms; ${times.length} moments of ${(bytes / 1e6).toFixed(0)} MB`;
  return { 'p99 beside 150 ms': { value: p99 / limitMs, detail } };
}

/** In the page: presses the scrubber at moments all over it, each when the last one is shown. */
async function seekOften(count) {
  const slider = document.querySelector('[role=slider]');
  const screen = document.querySelector('[aria-busy]');
  const { left, width, top } = slider.getBoundingClientRect();
  const shown = () =>
    new Promise((resolve) => {
      const look = () => {
        if (screen.getAttribute('aria-busy') === 'true') return;
        watch.disconnect();
        requestAnimationFrame(() => resolve());
      };
      const watch = new MutationObserver(look);
      watch.observe(screen, { attributes: true });
    });
  slider.setPointerCapture = () => {};
  const times = [];
  for (let n = 0; n < count; n++) {
    // Not in order, and never the same one again: most of them were not fetched ahead.
    const share = (n * 0.6180339887) % 1;
    const at = { bubbles: true, button: 0, pointerId: 1, clientX: left + width * share, clientY: top + 15 };
    const began = performance.now();
    const done = shown();
    slider.dispatchEvent(new PointerEvent('pointerdown', at));
    slider.dispatchEvent(new PointerEvent('pointerup', at));
    await done;
    times.push(performance.now() - began);
  }
  return times;
}

/** So many commands, one a second, each with a page of coloured lines. */
function writeCast(path, commands) {
  const lines = [JSON.stringify({ version: 2, width: 120, height: 30, timestamp: 1_700_000_000 })];
  for (let n = 0; n < commands; n++) {
    const print = (part, data) => lines.push(JSON.stringify([n + part, 'o', data]));
    print(0, `\x1b]133;A\x07$ \x1b]133;B\x07make part-${n}\r\n\x1b]133;C\x07`);
    for (let row = 0; row < 200; row++) {
      print(0.1 + row / 400, `\x1b[3${row % 8}mpart ${n}, row ${row}\x1b[m ${'some output of a build '.repeat(4)}\r\n`);
    }
    print(0.8, `\x1b]133;D;${n % 7 === 0 ? 1 : 0}\x07`);
  }
  const text = `${lines.join('\n')}\n`;
  writeFileSync(path, text);
  return text.length;
}

async function launch(chromium, executablePath) {
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--no-first-run'] });
  return Object.assign(browser, { [Symbol.asyncDispose]: () => browser.close() });
}

async function serve(program, home, casts) {
  const around = { ...env, HOME: home, SHELL: '/bin/sh' };
  const start = (args) =>
    spawn(process.execPath, [program, ...args], { cwd: home, env: around, stdio: ['ignore', 'pipe', 'inherit'] });
  const child = start(['serve', '--port', '0', '--rpc-port', '0', '--record-dir', casts]);
  let said = '';
  child.stdout.on('data', (chunk) => (said += chunk));
  while (!said.includes('Ctrl+C ends the server')) await once(child.stdout, 'data');
  return {
    url: /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0],
    async link() {
      const print = start(['settings', 'open', '--print-only']);
      let words = '';
      print.stdout.on('data', (chunk) => (words += chunk));
      await once(print, 'close');
      return /http:\/\/\S+#code=\S+/.exec(words)?.[0];
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await once(child, 'exit');
      const end = start(['serve', '--end']);
      await once(end, 'close');
    },
  };
}
