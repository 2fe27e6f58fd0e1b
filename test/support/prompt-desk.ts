import { engineWith } from './engine.ts';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Engine } from '../../src/engine/engine.ts';
import type { Terminal } from '../../src/engine/terminal/terminal.ts';
import { localTransport } from '../../src/transports/local/transport.ts';

export const never = new AbortController().signal;

/** An engine on real shells, with a home of its own. */
export class Workplace implements AsyncDisposable {
  readonly home: string;
  readonly engine: Engine;

  private constructor(home: string) {
    this.home = home;
    const env = { PATH: process.env['PATH'], HOME: home, LANG: 'C.UTF-8', PS1: '$ ' };
    const root = join(home, 'state');
    const local = localTransport({ root, shell: '/bin/bash', cwd: home, env, extraEnv: {}, integration: true });
    this.engine = engineWith(home, { local }, { size: { cols: 100, rows: 30 } });
  }

  static async open(): Promise<Workplace> {
    return new Workplace(await mkdtemp(join(tmpdir(), 'fairlead-attention-')));
  }

  shell(name?: string): Promise<Terminal> {
    return this.engine.sessions.create({ name }, { principal: 'test' }, never);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.engine[Symbol.asyncDispose]();
    await rm(this.home, { recursive: true, force: true, maxRetries: 5 });
  }
}

export const keys = { by: 'test', paste: false, submit: true } as const;

export const screenText = async (terminal: Terminal): Promise<string> => {
  await terminal.sync(never);
  return terminal.screen.text({ scope: 'all', wrap: 'join' });
};
