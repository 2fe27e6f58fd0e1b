import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import type { Engine, EngineOptions } from '../../../src/engine/engine.ts';
import type { SshSurroundings } from '../../../src/transports/ssh/sessions/connect.ts';
import { Ssh, ssh } from '../../../src/transports/ssh/index.ts';
import { sshTransport } from '../../../src/transports/ssh/open/transport.ts';
import { defaultSshSettings } from '../../../src/transports/ssh/settings.ts';
import { atPrompt, engineWith, limit, type ShellHome } from '../engine.ts';
import { type Sshd, startSshd } from './sshd.ts';

const size = { cols: 80, rows: 24 };

/** An engine that can open `ssh:far`, a name in the SSH config of its own home. */
export function sshEngine(
  sshd: Sshd,
  folder: string,
  user: string = sshd.user,
  surroundings: Partial<SshSurroundings> = {},
  more: Partial<EngineOptions> = {},
): Engine {
  const login = ['HostName 127.0.0.1', `Port ${sshd.port}`, `User ${user}`, `IdentityFile ${sshd.keyPath}`];
  writeFileSync(join(sshd.home, '.ssh', 'config'), ['Host far', ...login].join('\n'));
  const engine: Engine = engineWith(
    folder,
    { ssh: sshTransport({ engine: () => engine, integration: true, env: {} }) },
    {
      ...more,
      parts: [
        [ssh, ({ clock }) => new Ssh({ settings: defaultSshSettings, connector: sshd.connector(surroundings), clock })],
      ],
    },
  );
  return engine;
}

/** Real shells in a home of their own, behind a real sshd. */
export async function sshHome(): Promise<ShellHome> {
  const home = mkdtempSync(join(tmpdir(), 'fairlead-far-'));
  const sshd = await startSshd();
  // As the user who runs the tests: what needs no password here needs none there.
  const engine = sshEngine(sshd, home, userInfo().username);
  return {
    home,
    async open(shell) {
      const env = { HOME: home, LANG: 'C.UTF-8' };
      const request = { target: 'ssh:far', size, shell, cwd: home, env, principal: 'me' };
      const terminal = await engine.open(request, limit());
      await atPrompt(terminal);
      return terminal;
    },
    async [Symbol.asyncDispose]() {
      await engine[Symbol.asyncDispose]();
      await sshd[Symbol.asyncDispose]();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
