import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Engine, type EngineOptions } from '../../src/engine/engine.ts';
import { firstPrompt } from '../../src/engine/waiting/answered.ts';
import type { Terminal } from '../../src/engine/terminal/terminal.ts';
import type { Transport } from '../../src/engine/terminal/transport.ts';
import { localTransport, type PtyHost } from '../../src/transports/local/transport.ts';

export interface ShellHome extends AsyncDisposable {
  readonly home: string;
  readonly open: (shell: string, options?: { readonly integration?: boolean }) => Promise<Terminal>;
}

export interface LocalShellHome extends ShellHome {
  /** Opens a shell without waiting for its first prompt. */
  readonly begin: ShellHome['open'];
}

const size = { cols: 80, rows: 24 };

/** Real shells in a home of their own, in this process. `busybox` becomes its ash. */
export function shellHome(files: Readonly<Record<string, string>> = {}, place?: PtyHost): LocalShellHome {
  const home = mkdtempSync(join(tmpdir(), 'fairlead-run-'));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    writeFileSync(join(home, name), text);
  }
  symlinkSync('/usr/bin/busybox', join(home, 'ash'));
  const engines = [true, false].map((integration) => createEngine(home, integration, place));
  const begin: ShellHome['open'] = (shell, { integration = true } = {}) => {
    const engine = engines[integration ? 0 : 1] as Engine;
    const program = shell === 'ash' ? join(home, 'ash') : shell;
    return engine.open({ target: 'local', size, shell: program }, limit());
  };
  return {
    home,
    begin,
    async open(shell, options) {
      const terminal = await begin(shell, options);
      await atPrompt(terminal);
      return terminal;
    },
    async [Symbol.asyncDispose]() {
      for (const engine of engines) await engine[Symbol.asyncDispose]();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** A shell on a busy machine may take longer to start than anybody who uses it would wait. */
export async function atPrompt(terminal: Terminal): Promise<void> {
  const shown = (): boolean =>
    (terminal.blocks.marked ? terminal.blocks.promptAt : terminal.usage.lastOutputMs) !== undefined;
  const signal = limit();
  while (!shown() && !terminal.ended) await firstPrompt(terminal, signal);
}

export const limit = (ms = 20_000): AbortSignal => AbortSignal.timeout(ms);

function createEngine(home: string, integration: boolean, place?: PtyHost): Engine {
  const env = { PATH: process.env['PATH'], HOME: home, LANG: 'C.UTF-8', USER: 'tester', SHELL: '/bin/bash' };
  const root = join(home, '.fairlead');
  return engineWith(home, {
    local: localTransport({ root, shell: undefined, cwd: home, env, extraEnv: {}, integration }, place),
  });
}

/** What a test opens, by scheme: a transport, or only how it opens. */
export type FarSides = Readonly<Record<string, Transport | Transport['open']>>;

export const transportsOf = (far: FarSides): readonly Transport[] =>
  Object.entries(far).map(([scheme, one]) => (typeof one === 'function' ? { scheme, open: one } : one));

/** An engine that opens these, and keeps its files below `home`. */
export function engineWith(home: string, far: FarSides, more: Partial<EngineOptions> = {}): Engine {
  return new Engine({
    transports: transportsOf(far),
    size,
    scrollback: 1000,
    sessions: { maxSessions: 100, idleTimeout: 0 },
    recordings: {
      dir: join(home, 'recordings'),
      idleTimeLimit: 2,
      maxDuration: 3600,
      inactivityTimeout: 600,
      auto: 'off',
    },
    picturesDir: join(home, 'pictures'),
    ...more,
  });
}
