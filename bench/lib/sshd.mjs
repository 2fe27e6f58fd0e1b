// A real OpenSSH server for this user on loopback, and OpenSSH's own client beside ours.
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const host = '127.0.0.1';

export class Sshd {
  /** @param {string} parent @param {readonly string[]} [config] lines of sshd_config, which win */
  static async start(parent, config = []) {
    const folder = mkdtempSync(join(parent, 'sshd-'));
    chmodSync(folder, 0o711);
    const port = await freePort();
    for (const key of ['host', 'user']) {
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, key)]);
    }
    copyFileSync(join(folder, 'user.pub'), join(folder, 'authorized_keys'));
    mkdirSync(join(folder, 'home', '.ssh'), { recursive: true, mode: 0o700 });
    if (process.getuid() === 0) mkdirSync('/run/sshd', { recursive: true });
    const lines = [
      ...config,
      `Port ${port}`,
      `ListenAddress ${host}`,
      `HostKey ${join(folder, 'host')}`,
      'PidFile none',
      `AuthorizedKeysFile ${join(folder, 'authorized_keys')}`,
      'StrictModes no',
      'PermitRootLogin yes',
      'UsePAM no',
      'PasswordAuthentication no',
      'MaxStartups 500',
      'PrintMotd no',
      // Or the start-up files of whoever runs this would be measured.
      `SetEnv HOME=${join(folder, 'home')}`,
      'LogLevel INFO',
      'Subsystem sftp internal-sftp',
    ];
    writeFileSync(join(folder, 'sshd_config'), `${lines.join('\n')}\n`);
    const child = spawn('/usr/sbin/sshd', ['-D', '-e', '-f', join(folder, 'sshd_config')], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const sshd = new Sshd(folder, port, child);
    await sshd.#listening();
    return sshd;
  }

  #child;
  #masters = 0;
  #log = '';

  constructor(folder, port, child) {
    this.folder = folder;
    this.port = port;
    this.user = userInfo().username;
    this.#child = child;
    child.stderr.on('data', (data) => (this.#log = (this.#log + data).slice(-10_000)));
  }

  async #listening() {
    while (!this.#log.includes('Server listening')) {
      if (this.#child.exitCode !== null) throw new Error(`sshd ended: ${this.#log}`);
      await once(this.#child.stderr, 'data');
    }
  }

  /** Arguments of `ssh` that reach this server, up to the host. */
  get arguments() {
    const options = {
      UserKnownHostsFile: join(this.folder, 'ssh_known_hosts'),
      GlobalKnownHostsFile: '/dev/null',
      StrictHostKeyChecking: 'accept-new',
      IdentitiesOnly: 'yes',
      BatchMode: 'yes',
      LogLevel: 'ERROR',
    };
    const settings = Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
    return ['-F', '/dev/null', ...settings, '-i', join(this.folder, 'user'), '-p', String(this.port), '-l', this.user];
  }

  /** OpenSSH's client: rejects when it does not exit with 0. */
  async ssh(...command) {
    return await execute('ssh', [...this.arguments, host, ...command], { maxBuffer: 1 << 30 });
  }

  /** OpenSSH's client with a connection that stays: commands through it cost no handshake. */
  async master() {
    const path = join(this.folder, `m${this.#masters++}`);
    const through = [...this.arguments, '-S', path];
    await execute('ssh', [...through, '-M', '-f', '-N', '-o', 'ControlPersist=yes', host]);
    return {
      ssh: async (...command) => await execute('ssh', [...through, host, ...command], { maxBuffer: 1 << 30 }),
      [Symbol.asyncDispose]: async () => {
        await execute('ssh', [...through, '-O', 'exit', host]).catch(() => {});
      },
    };
  }

  /** What our connector is told to log in here. */
  request(changes = {}) {
    return {
      address: `${host}:${this.port}`,
      username: this.user,
      keyPath: join(this.folder, 'user'),
      timeoutMs: 30_000,
      maxRetries: 0,
      retryDelayMs: 100,
      compress: false,
      ...changes,
    };
  }

  /** Ours, of the build. */
  async connector(bench) {
    const { sshConnector } = await bench.load('transports/ssh/sessions/connect');
    return sshConnector({
      home: join(this.folder, 'home'),
      env: { PATH: process.env.PATH },
      knownHostsFile: join(this.folder, 'our_known_hosts'),
      hostKeyPolicy: 'accept-new',
      systemFolder: this.folder,
    });
  }

  async [Symbol.asyncDispose]() {
    if (this.#child.exitCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill();
    await exited;
  }
}

async function freePort() {
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
