import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import {
  type Connected,
  type ConnectRequest,
  type SshConnector,
  type SshSurroundings,
  sshConnector,
} from '../../../src/transports/ssh/sessions/connect.ts';
import { alive, below, kill, ofUser, type Running, signal, stopBelow } from '../process-tree.ts';

/** Without it there are no terminals and no passwords: sshd can give out neither. */
export const isRoot = process.getuid?.() === 0;

export type KeyKind = 'ed25519' | 'rsa' | 'ecdsa';

export interface SshdOptions {
  /** Its host keys, the first of them preferred; ed25519. */
  readonly hostKeys?: readonly KeyKind[];
  /** Lines of sshd_config; they come first, so they win. `MaxSessions 2`, `AcceptEnv FOO`, … */
  readonly config?: readonly string[];
  /** Takes the password of its user. Only as root, see `isRoot`: nobody else can make a user with a known password. */
  readonly password?: boolean;
  /** Takes the password as keyboard-interactive, through PAM. Only as root. */
  readonly keyboardInteractive?: boolean;
  /** Its host key stands in the known_hosts of the client's home. */
  readonly known?: boolean;
}

export interface KeyOptions {
  readonly passphrase?: string;
  /** Whether the server lets it in; true. */
  readonly authorized?: boolean;
}

/**
 * A real OpenSSH server on a loopback port, in a folder of its own, with a user key that may log in.
 *
 *     await using sshd = await startSshd({ config: ['MaxSessions 2'] });
 *     const { link } = await sshd.connect();
 */
export class Sshd implements AsyncDisposable {
  readonly folder: string;
  /** A home for the client, with an empty `.ssh`. */
  readonly home: string;
  readonly host = '127.0.0.1';
  readonly port: number;
  /** Whose login works with `keyPath`: as root a user made for this server, since OpenSSH signals no process of root. */
  readonly user: string;
  /** A private key that may log in. */
  readonly keyPath: string;
  /** The password of `user`; empty when not root. */
  readonly password: string;
  /** What the server said so far. */
  log = '';
  readonly #child: ChildProcess;
  /** What a connection that was cut left running. */
  readonly #orphans: Running[] = [];

  constructor(folder: string, port: number, child: ChildProcess, account: Account) {
    this.folder = folder;
    this.home = join(folder, 'home');
    mkdirSync(join(this.home, '.ssh'), { recursive: true, mode: 0o700 });
    this.port = port;
    this.user = account.user;
    this.password = account.password;
    this.#child = child;
    child.stderr?.on('data', (data: Buffer) => {
      this.log = (this.log + data.toString()).slice(-100_000);
    });
    this.keyPath = this.newKey('ed25519');
  }

  /** `127.0.0.1:port` */
  get address(): string {
    return `${this.host}:${this.port}`;
  }

  /** What ssh_connect and ssh_run need to get in. */
  get login() {
    return { address: this.address, username: this.user, key_path: this.keyPath };
  }

  get pid(): number {
    return this.#child.pid as number;
  }

  /** Where our own known_hosts of this client is. */
  get knownHostsFile(): string {
    return join(this.home, '.fairlead', 'known_hosts');
  }

  /** A line of known_hosts for this server. */
  knownHostsLine(kind: KeyKind = 'ed25519', name = `[${this.host}]:${this.port}`): string {
    const [type, key] = readFileSync(join(this.folder, `host_${kind}.pub`), 'utf8').split(' ');
    return `${name} ${type} ${key?.trim()}`;
  }

  /** Makes a key pair; the path of the private half. */
  newKey(kind: KeyKind = 'ed25519', { passphrase = '', authorized = true }: KeyOptions = {}): string {
    const path = join(this.folder, `user_${kind}_${randomBytes(5).toString('hex')}`);
    keygen(kind, path, passphrase);
    if (authorized) this.authorize(path);
    return path;
  }

  /** Lets the owner of this key in. */
  authorize(path: string, options = ''): void {
    appendFileSync(
      join(this.folder, 'authorized_keys'),
      `${options} ${readFileSync(`${path}.pub`, 'utf8')}`.trimStart(),
    );
  }

  connector(surroundings: Partial<SshSurroundings> = {}): SshConnector {
    return sshConnector({
      home: this.home,
      env: { PATH: process.env['PATH'] },
      knownHostsFile: this.knownHostsFile,
      hostKeyPolicy: 'accept-new',
      systemFolder: join(this.folder, 'etc'),
      ...surroundings,
    });
  }

  /** A request that works; change what the test is about. */
  request(changes: Partial<ConnectRequest> = {}): ConnectRequest {
    return {
      address: this.address,
      username: this.user,
      keyPath: this.keyPath,
      timeoutMs: 20_000,
      maxRetries: 0,
      retryDelayMs: 10,
      compress: false,
      ...changes,
    };
  }

  connect(changes: Partial<ConnectRequest> = {}, surroundings: Partial<SshSurroundings> = {}): Promise<Connected> {
    return this.connector(surroundings).connect(this.request(changes), AbortSignal.timeout(25_000));
  }

  /** Ends every connection as a dying server would: without a word. What ran on them may live on. */
  cut(): void {
    // Stopped first: one that is just being started would outlive its parent, and hold the connection.
    const servers = stopBelow(this.pid, isServer);
    this.#orphans.push(...below(this.pid).filter((child) => !isServer(child)));
    for (const server of servers) kill(server);
  }

  /** Nothing that serves a connection moves until the end of the scope; new connections are served. */
  freeze(): Disposable {
    const frozen = stopBelow(this.pid, isServer);
    return { [Symbol.dispose]: () => frozen.forEach((server) => signal(server, 'SIGCONT')) };
  }

  /** Waits until the server has said this, after so many characters: its words come by another way than its answers. */
  async logged(words: RegExp, after = 0): Promise<void> {
    while (!words.test(this.log.slice(after))) await once(this.#child.stderr as Readable, 'data');
  }

  /** Processes of connections and commands that are alive now. */
  children(): readonly Running[] {
    return below(this.pid);
  }

  #uid(): number {
    return Number(execFileSync('id', ['-u', this.user], { encoding: 'utf8' }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const left = [...below(this.pid), ...this.#orphans];
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const exited = once(this.#child, 'exit');
      this.#child.kill('SIGKILL');
      await exited;
    }
    const uid = isRoot ? this.#uid() : undefined;
    // A shell that is still leaving writes into its home, and a loop may have begun another command.
    const still = (): Running[] => [...left.filter(alive), ...(uid === undefined ? [] : ofUser(uid))];
    for (let processes = still(); processes.length > 0; processes = still()) {
      processes.forEach(kill);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    if (isRoot) removeUser(this.user);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export async function startSshd(options: SshdOptions = {}): Promise<Sshd> {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-sshd-'));
  // The server reads below it as the user who logs in.
  chmodSync(folder, 0o711);
  const account = isRoot ? addUser(folder) : { user: userInfo().username, password: '' };
  const hostKeys = options.hostKeys ?? ['ed25519'];
  for (const kind of hostKeys) keygen(kind, join(folder, `host_${kind}`));
  writeFileSync(join(folder, 'authorized_keys'), '', { mode: 0o644 });
  if (isRoot) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 });
  for (let attempt = 0; ; attempt += 1) {
    const port = await freePort();
    const config = join(folder, 'sshd_config');
    writeFileSync(config, configuration(folder, port, hostKeys, options).join('\n'));
    const child = spawn(sshdProgram, ['-D', '-e', '-f', config], { stdio: ['ignore', 'ignore', 'pipe'] });
    const sshd = new Sshd(folder, port, child, account);
    if (await listening(sshd, child)) {
      if (options.known) writeFileSync(join(sshd.home, '.ssh', 'known_hosts'), `${sshd.knownHostsLine()}\n`);
      return sshd;
    }
    // Somebody else took the port in between.
    if (attempt === 5) {
      await sshd[Symbol.asyncDispose]();
      throw new Error(`sshd does not start: ${sshd.log}`);
    }
  }
}

const sshdProgram = '/usr/sbin/sshd';

const isServer = ({ name }: Running): boolean => name.startsWith('sshd');

/** Nobody listens there: it is too low to be given out by chance. */
export const nobodysPort = 1;

function configuration(folder: string, port: number, hostKeys: readonly KeyKind[], options: SshdOptions): string[] {
  return [
    ...(options.config ?? []),
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    ...hostKeys.map((kind) => `HostKey ${join(folder, `host_${kind}`)}`),
    'PidFile none',
    `AuthorizedKeysFile ${join(folder, 'authorized_keys')}`,
    'StrictModes no',
    'PermitRootLogin yes',
    `UsePAM ${options.keyboardInteractive ? 'yes' : 'no'}`,
    `KbdInteractiveAuthentication ${options.keyboardInteractive ? 'yes' : 'no'}`,
    `PasswordAuthentication ${options.password ? 'yes' : 'no'}`,
    'PrintMotd no',
    'PrintLastLog no',
    'MaxStartups 200',
    'PerSourceMaxStartups none',
    'LogLevel VERBOSE',
    'Subsystem sftp internal-sftp',
    '',
  ];
}

function keygen(kind: KeyKind, path: string, passphrase = ''): void {
  const size = kind === 'rsa' ? ['-b', '2048'] : [];
  execFileSync('ssh-keygen', ['-q', '-t', kind, ...size, '-N', passphrase, '-C', 'test', '-f', path]);
}

async function listening(sshd: Sshd, child: ChildProcess): Promise<boolean> {
  const exited = once(child, 'exit').then(() => false);
  const up = (async () => {
    await sshd.logged(/Server listening on/);
    return true;
  })();
  return Promise.race([up, exited]);
}

/** Free now; a server that is started next may find it taken. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

interface Account {
  readonly user: string;
  readonly password: string;
}

function addUser(folder: string): Account {
  const user = `fl${randomBytes(5).toString('hex')}`;
  const password = `pw-${randomBytes(9).toString('hex')}`;
  const home = join(folder, 'account');
  changeUsers('useradd', ['--create-home', '--home-dir', home, '--skel', '/nowhere', '--shell', '/bin/bash', user]);
  changeUsers('chpasswd', [], `${user}:${password}\n`);
  return { user, password };
}

// Its last process may still be leaving.
const removeUser = (user: string): void => changeUsers('userdel', ['--force', user]);

/** One at a time: a second one finds the files locked and gives up. */
function changeUsers(program: string, args: readonly string[], input = ''): void {
  execFileSync('flock', [join(tmpdir(), 'fairlead-test-users.lock'), program, ...args], { input, stdio: 'pipe' });
}

/** A real ssh-agent that holds these keys. */
export async function startAgent(keys: readonly string[]): Promise<AsyncDisposable & { readonly socket: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-agent-'));
  const socket = join(folder, 'agent');
  const child = spawn('ssh-agent', ['-D', '-a', socket], { stdio: ['ignore', 'pipe', 'ignore'] });
  const exited = once(child, 'exit');
  await once(child.stdout, 'data');
  const agent = {
    socket,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
  try {
    for (const key of keys) execFileSync('ssh-add', ['-q', key], { env: { ...process.env, SSH_AUTH_SOCK: socket } });
  } catch (error) {
    await agent[Symbol.asyncDispose]();
    throw error;
  }
  return agent;
}
