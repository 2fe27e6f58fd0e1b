import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Keeper, type KeeperLimits, type KeeperOptions } from '../../../src/transports/local/keeper/server/keeper.ts';
import type { Listed } from '../../../src/transports/local/keeper/messages.ts';
import { type Libc, loadLibc } from '../../../src/transports/local/pty/libc.ts';
import { openLinuxPty } from '../../../src/transports/local/pty/pty-linux.ts';
import { RawClient } from './raw-client.ts';

type OwnOptions = Pick<KeeperOptions, 'shared' | 'clock' | 'limits' | 'complain'>;

/** A keeper in this process, with the patience a test has. */
export class OwnKeeper implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'fl-own-'));
  readonly socket = join(this.folder, 'k.sock');
  readonly keeper: Keeper;
  empty = false;

  private constructor(libc: Libc, options: OwnOptions) {
    this.keeper = new Keeper({
      open: (target, wanted) => openLinuxPty(libc, target, wanted),
      onEmpty: () => {
        this.empty = true;
      },
      ...options,
    });
  }

  static async start(limits: Partial<KeeperLimits> = {}, options: OwnOptions = {}): Promise<OwnKeeper> {
    const own = new OwnKeeper(await loadLibc(), { ...options, limits });
    await own.keeper.listen(own.socket);
    return own;
  }

  async client(): Promise<RawClient> {
    const client = await RawClient.connect(this.socket);
    client.hello(process.pid);
    await client.until('welcome');
    return client;
  }

  async listed(): Promise<Listed[]> {
    using client = await this.client();
    const { terminals } = JSON.parse(Buffer.from((await client.until('welcome')).body).toString()) as {
      terminals: Listed[];
    };
    return terminals;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.keeper.end();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
