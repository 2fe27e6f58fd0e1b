import { endKeeper } from '../../../src/transports/local/keeper/end-keeper.ts';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Channel } from '../../../src/engine/terminal/channel.ts';
import {
  type KeeperClient,
  type KeeperClientOptions,
  keeperFor,
} from '../../../src/transports/local/keeper/client/keeper-client.ts';
import type { KeeperChannel } from '../../../src/transports/local/keeper/client/keeper-channel.ts';

export const size = { cols: 80, rows: 24 };
export const env = { PATH: '/usr/local/bin:/usr/bin:/bin', TERM: 'xterm-256color', LC_ALL: 'C.UTF-8' };
export const script = (text: string) => ({ argv: ['sh', '-c', text] as const, env });
export const soon = (ms = 15_000): AbortSignal => AbortSignal.timeout(ms);

/** A home of its own with the built keeper. Leaving the scope ends the keeper and all it holds. */
export class KeeperHome implements AsyncDisposable {
  readonly home = mkdtempSync(join(tmpdir(), 'fl-keeper-'));
  readonly #clients: KeeperClient[] = [];
  #next = 0xa0000;

  get socket(): string {
    return join(this.home, 'run', 'keeper-alpha.sock');
  }

  client(options: KeeperClientOptions = {}, instance = 'alpha'): KeeperClient {
    const client = keeperFor(instance, this.home, options);
    this.#clients.push(client);
    return client;
  }

  newId(): string {
    return (this.#next++).toString(16);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) await client[Symbol.asyncDispose]();
    for (const instance of ['alpha', 'bravo']) await endKeeper(instance, this.home, soon());
    rmSync(this.home, { recursive: true, force: true });
  }
}

/** Alive, and not only waiting to be buried. */
export function isAlive(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}

export const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

/** What a process has open, by what it is. */
export function descriptorsOf(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
    } catch {
      return [];
    }
  });
}

/** How many terminals an instance reads itself: it has the memory of each. */
export const leasedTerminals = (pid: number): number =>
  descriptorsOf(pid).filter((path) => path.startsWith('/memfd:fairlead')).length;

/** Empty when it is gone. */
export function commandLine(pid: number | string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

/** All it still prints. */
export async function rest(channel: Channel): Promise<string> {
  const parts: Buffer[] = [];
  for await (const chunk of channel.output) parts.push(Buffer.from(chunk));
  return Buffer.concat(parts).toString();
}

/** What it prints up to this word, and whatever came with it. */
export async function until(channel: Channel, word: string): Promise<string> {
  let text = '';
  const chunks = channel.output[Symbol.asyncIterator]();
  while (!text.includes(word)) {
    const { done, value } = await chunks.next();
    if (done === true) throw new Error(`It ended before ${word}: ${text}`);
    text += Buffer.from(value).toString();
  }
  return text;
}

/** What it prints, as it comes. */
export function listen(channel: KeeperChannel): { text: string } {
  const heard = { text: '' };
  channel.output
    .consume((chunk) => {
      heard.text += Buffer.from(chunk).toString();
      return undefined;
    })
    .catch(() => {});
  return heard;
}

/** Reads nothing until it is told to, then this many bytes into a file, and the rest for nobody. */
export function sleeper(home: KeeperHome, bytes: number) {
  const [gate, file] = [join(home.home, 'gate'), join(home.home, 'typed')];
  return {
    spawn: script(
      `stty raw -echo; mkfifo ${gate}; echo ready; cat ${gate}; head -c ${bytes} > ${file}; echo done; exec cat > /dev/null`,
    ),
    wake: () => writeFileSync(gate, ''),
    typed: () => (existsSync(file) ? readFileSync(file, 'latin1') : ''),
  };
}
