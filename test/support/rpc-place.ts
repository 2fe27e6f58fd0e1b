import { engineWith } from './engine.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, vi } from 'vitest';
import { InstanceClipboard, instanceClipboard } from '../../src/engine/capture/clipboard.ts';
import { systemTools } from '../../src/engine/capture/system-tools.ts';
import { call } from '../../src/engine/call/call.ts';
import type { Engine, EngineOptions } from '../../src/engine/engine.ts';
import { AuditTrail, auditTrail } from '../../src/engine/call/audit/trail.ts';
import { openGate } from '../../src/engine/call/gate.ts';
import { Policies, policies } from '../../src/policy/policies.ts';
import { PersonSettings, personSettings } from '../../src/engine/settings/settings.ts';
import { Proxies, proxies } from '../../src/engine/proxy/proxies.ts';
import { bothSpellings } from '../../src/engine/proxy/settings.ts';
import { RecordingSettings } from '../../src/engine/recording/log/settings.ts';
import { CurrentRedactor } from '../../src/engine/redaction/current-redactor.ts';
import { systemClock } from '../../src/system/clock.ts';
import type { Terminal } from '../../src/engine/terminal/terminal.ts';
import type { ProxySurroundings } from '../../src/engine/proxy/detect.ts';
import { Instances } from '../../src/engine/instances/instances.ts';
import { OwnInstance } from '../../src/engine/instances/own-instance.ts';
import { RunningInstance, runningInstance, type Vitals } from '../../src/engine/instances/running.ts';
import { Workspaces, workspaces } from '../../src/engine/sessions/workspaces.ts';
import { MethodTable } from '../../src/faces/jsonrpc/methods.ts';
import { RpcServer } from '../../src/faces/jsonrpc/server.ts';
import { sessionBook } from '../../src/operations/session/index.ts';
import { localTransport } from '../../src/transports/local/transport.ts';
import { RpcClient } from './rpc.ts';

/** An instance in this process, with a home of its own, and a client of its RPC that has logged in. */
export class RpcPlace implements AsyncDisposable {
  readonly home: string;
  readonly engine: Engine;
  readonly server: RpcServer;
  readonly client: RpcClient;
  readonly own: OwnInstance;

  private constructor(home: string, engine: Engine, server: RpcServer, client: RpcClient, own: OwnInstance) {
    this.home = home;
    this.engine = engine;
    this.server = server;
    this.client = client;
    this.own = own;
  }

  static async open(
    parts: (root: string) => NonNullable<EngineOptions['parts']> = () => [],
    change: Partial<EngineOptions> = {},
    vitals: Partial<Vitals> = {},
    proxyLimits: ProxySurroundings['limits'] = {},
    tools: Readonly<Record<string, string>> = {},
  ): Promise<RpcPlace> {
    const home = mkdtempSync(join(tmpdir(), 'fairlead-rpc-'));
    const root = join(home, '.fairlead');
    const peers = new Instances(root);
    const own = OwnInstance.claim(peers, { version: '9.9.9', cwd: home });
    const env = {
      PATH: process.env['PATH'],
      HOME: home,
      LANG: 'C.UTF-8',
      USER: 'tester',
      SHELL: '/bin/bash',
      PS1: '$ ',
    };
    const warn = (): void => {};
    const policy = new Policies({ root, clock: systemClock, warn });
    const ports: number[] = [];
    const around = {
      env: {},
      platform: 'linux',
      home,
      run: async () => undefined,
      ports,
      limits: proxyLimits,
    } as const;
    const proxy = new Proxies({ root, clock: systemClock, warn, around });
    const chosen = new PersonSettings({ root, clock: systemClock, warn });
    const variables = async (signal: AbortSignal) => bothSpellings(await proxy.variables(signal));
    const recording = new RecordingSettings({ root, clock: systemClock, warn });
    const patterns = (): readonly string[] => recording.get().redaction.custom_patterns;
    const redactor = new CurrentRedactor({ key: () => Buffer.alloc(32), patterns });
    const clipboard = new InstanceClipboard(join(root, 'clipboard'), systemTools(tools));
    const trail = new AuditTrail(root, warn);
    const shells = { root, shell: undefined, cwd: home, env, extraEnv: {}, integration: true, variables };
    const local = localTransport(shells);
    const engine = engineWith(
      home,
      { local },
      {
        size: { cols: 120, rows: 30 },
        readableRows: () => chosen.scrollback,
        theme: () => chosen.theme,
        sessions: { maxSessions: 200, idleTimeout: 0 },
        parts: [
          // How busy the machine of the tests is does not count, unless that is what a test is about.
          [runningInstance, () => new RunningInstance(own, peers, { lateMs: () => 0, ...vitals })],
          [workspaces, () => new Workspaces(root)],
          [policies, () => policy],
          [auditTrail, () => trail],
          [proxies, () => proxy],
          [instanceClipboard, () => clipboard],
          [personSettings, () => chosen],
          ...parts(root),
        ],
        gate: { ...openGate, ...policy.gate },
        redactor: () => redactor.get(),
        logs: { root, home, version: '9.9.9', settings: recording, redactor: () => redactor.get() },
        ...change,
      },
    );
    clipboard.listen(engine);
    engine.audit.added.on((entry) => trail.add(entry));
    const methods = new MethodTable([sessionBook], (op, raw, context) => call(op, raw, { ...context, engine }));
    const token = own.record.auth_token;
    const server = await RpcServer.listen({ host: '127.0.0.1', port: 0, token, methods, clock: engine.clock });
    own.announce({ mcp_port: server.port, http_port: 0 });
    return new RpcPlace(home, engine, server, await RpcClient.connect(server.port, token), own);
  }

  async another(): Promise<RpcClient> {
    return await RpcClient.connect(this.server.port, this.own.record.auth_token);
  }

  async create(params: Readonly<Record<string, unknown>> = {}): Promise<number> {
    return (await this.client.call('session.create', params)).id;
  }

  /** The session behind a number: what no method tells. */
  terminal(id: number): Terminal {
    const found = this.engine.terminals.find(({ identity: { number } }) => number === id);
    if (!found) throw new Error(`There is no session ${id}.`);
    return found;
  }

  /** Waits for the prompt after the newest command: its end, with which run_wait answers, is told before it. */
  async prompted(id: number): Promise<void> {
    const { blocks } = this.terminal(id);
    await vi.waitUntil(() => blocks.promptAt !== undefined, { timeout: 20_000, interval: 2 });
  }

  /** Waits until a program of this name has the terminal. */
  async running(id: number, name: string): Promise<void> {
    const { process } = this.terminal(id);
    await vi.waitUntil(() => process?.foreground()?.name === name, { timeout: 20_000, interval: 2 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.client[Symbol.dispose]();
    await this.server[Symbol.asyncDispose]();
    await this.engine[Symbol.asyncDispose]();
    rmSync(this.home, { recursive: true, force: true });
  }
}

/** One for all tests of a file. */
export function withPlace(use: (place: RpcPlace) => void, change: Partial<EngineOptions> = {}): void {
  let place: RpcPlace | undefined;
  beforeAll(async () => {
    place = await RpcPlace.open(undefined, change);
    use(place);
  });
  afterAll(() => place?.[Symbol.asyncDispose]());
}
