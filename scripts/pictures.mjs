// npm run pictures: photographs every page of the built dashboard for docs/pictures.
// Linux only: it runs in a name space of its own, where the machine is called atlas, its user ada,
// and the home /home/ada. Node and Chromium must not stand below /home.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { fail, root, run, say } from './lib.mjs';
import { photographs } from './pictures/photographs.mjs';
import { quantise } from './pictures/quantise.mjs';
import { agent, furnish, stage } from './pictures/scene.mjs';

const inside = process.env.FAIRLEAD_PICTURES === 'inside';
const home = '/home/ada';
const place = '/srv/fairlead';

if (inside) await main();
else {
  const own = process.getuid?.() === 0 ? [] : ['--map-root-user'];
  const steps = [
    'set -e',
    'hostname atlas',
    'mount -t tmpfs tmpfs /srv',
    `mkdir -p /srv/home/ada ${place}`,
    `mount --bind "$1" ${place}`,
    `{ echo ada:x:0:0::${home}:/bin/bash; cat /etc/passwd; } > /srv/passwd`,
    'mount --bind /srv/passwd /etc/passwd',
    'mount --bind /srv/home /home',
    `cd ${place}`,
    'shift',
    'exec "$0" scripts/pictures.mjs "$@"',
  ].join('\n');
  const args = [...own, '--uts', '--mount', 'sh', '-c', steps, process.execPath, root, ...process.argv.slice(2)];
  const isDone = run('unshare', args, { env: { ...process.env, FAIRLEAD_PICTURES: 'inside' } });
  if (!isDone) fail('No pictures. They need Linux, unshare, chromium, git, vim, and a build (npm run build).');
  process.exitCode = isDone ? 0 : 1;
}

async function main() {
  const wanted = process.argv.slice(2);
  const folder = join(root, 'docs', 'pictures');
  mkdirSync(folder, { recursive: true });
  furnish(home);
  const env = {
    PATH: `${home}/bin:${process.env.PATH}`,
    HOME: home,
    USER: 'ada',
    LOGNAME: 'ada',
    SHELL: '/bin/bash',
    LANG: 'C.UTF-8',
  };
  const program = [join(place, 'bin', 'fairlead.js')];
  const server = spawn(process.execPath, [...program, 'serve', '--cwd', join(home, 'shop')], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  server.stdout.on('data', (bytes) => (out += bytes));
  let browser;
  try {
    while (!out.includes('Ctrl+C ends the server')) {
      if (server.exitCode !== null) throw new Error(`The server does not start: ${out}`);
      await pause(50);
    }
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(out)[0];
    const token = JSON.parse(readFileSync(/auth_token in (\S+)/.exec(out)[1], 'utf8')).auth_token;
    const mcp = { url: /address +(\S+)/.exec(out)[1], token };
    const claude = await agent('Claude Code', mcp);
    const codex = await agent('Codex', mcp);
    const ids = await stage(claude, codex, join(home, 'shop'));
    const link = () =>
      /http:\/\/\S+#code=\S+/.exec(
        spawnSync(process.execPath, [...program, 'settings', 'open', '--print-only'], { env, encoding: 'utf8' }).stdout,
      )[0];
    const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
      existsSync(path),
    );
    browser = await chromium.launch({
      executablePath,
      args: ['--no-sandbox', '--disable-background-networking', '--no-first-run'],
    });
    const take = async (name, page) => {
      if (wanted.length > 0 && !wanted.includes(name)) return;
      const png = await quantise(await page.screenshot());
      writeFileSync(join(folder, `${name}.png`), png);
      say(`${name}.png, ${Math.round(png.length / 1024)} kB`);
    };
    await photographs({ browser, url, link, ids, claude, codex, take });
    await claude.close();
    await codex.close();
  } finally {
    await browser?.close();
    if (server.exitCode === null) {
      server.kill('SIGTERM');
      await once(server, 'exit');
    }
    spawnSync(process.execPath, [...program, 'serve', '--end'], { env });
  }
}
