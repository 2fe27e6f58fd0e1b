// A tmux server of our own: detached, the size and history of our terminals, gone at the end.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { env, scrollback, size } from './setting.mjs';
import { isTmux } from './leftovers.mjs';
import { TmuxControl } from './tmux-control.mjs';

const execute = promisify(execFile);
let count = 0;

export class Tmux {
  static async start(folder) {
    const tmux = new Tmux(folder, `fairlead-bench-${process.pid}-${count++}`);
    const settings = {
      'exit-empty': 'off',
      'history-limit': scrollback,
      'default-shell': '/bin/sh',
      'default-size': `${size.cols}x${size.rows}`,
      'escape-time': 0,
      status: 'off',
    };
    const commands = Object.entries(settings).flatMap(([name, value]) => ['set', '-g', name, String(value), ';']);
    await tmux.run('start-server', ';', ...commands.slice(0, -1));
    await tmux.run(
      'new-session',
      '-d',
      '-s',
      'main',
      '-x',
      String(size.cols),
      '-y',
      String(size.rows),
      'sleep',
      '1000000',
    );
    tmux.pid = Number(await tmux.run('display-message', '-p', '#{pid}'));
    writeFileSync(tmux.#pidFile, String(tmux.pid));
    return tmux;
  }

  #name;
  #environment;
  #pidFile;

  constructor(folder, name) {
    this.#name = name;
    this.#environment = { ...env, TMUX_TMPDIR: folder };
    this.#pidFile = join(folder, `${name}.pid`);
  }

  /** One tmux command in a process of its own, as an agent's shell would run it. */
  async run(...args) {
    const { stdout } = await execute('tmux', this.#arguments(args), { env: this.#environment });
    return stdout.trimEnd();
  }

  /** A window of one pane; the answer is the pane's id. */
  open(argv) {
    return this.run('new-window', '-d', '-P', '-F', '#{pane_id}', ...argv);
  }

  text(pane) {
    return this.run('capture-pane', '-p', '-t', pane);
  }

  close(pane) {
    return this.run('kill-pane', '-t', pane);
  }

  /** A client in control mode. */
  async control() {
    const client = spawn('tmux', this.#arguments(['-C', 'attach', '-t', 'main']), {
      env: this.#environment,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    await once(client, 'spawn');
    const control = new TmuxControl(client);
    await control.ready;
    // A client without a size of its own would shrink the windows to 80 columns.
    await control.command(`refresh-client -C ${size.cols}x${size.rows}`);
    return control;
  }

  /** Disposing twice is fine. */
  async [Symbol.asyncDispose]() {
    if (!existsSync(this.#pidFile)) return;
    await this.run('kill-server').catch(() => {});
    const limit = performance.now() + 3000;
    while (isTmux(this.pid) && performance.now() < limit) await delay(20);
    if (isTmux(this.pid)) process.kill(this.pid, 'SIGKILL');
    unlinkSync(this.#pidFile);
  }

  #arguments(args) {
    return ['-L', this.#name, '-f', '/dev/null', ...args];
  }
}
