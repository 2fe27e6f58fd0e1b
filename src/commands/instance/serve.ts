import { once } from 'node:events';
import { join } from 'node:path';
import { autosave, autosaveNames } from '../../engine/sessions/autosave.ts';
import type { HttpServer } from '../../faces/http/server.ts';
import { call } from '../../engine/call/call.ts';
import { followDirectory } from '../../engine/instances/follow-directory.ts';
import { BrowserLogins, browserLogins } from '../../engine/instances/browser-logins.ts';
import { LoginLinks, loginLinks } from '../../engine/instances/login-links.ts';
import { Instances } from '../../engine/instances/instances.ts';
import { ProgramsOnPath, programsOnPath } from '../../engine/instances/programs-on-path.ts';
import { RunningInstance, runningInstance } from '../../engine/instances/running.ts';
import { MethodTable } from '../../faces/jsonrpc/methods.ts';
import { RpcServer } from '../../faces/jsonrpc/server.ts';
import { sessionBook } from '../../operations/session/index.ts';
import { personSettings } from '../../engine/settings/settings.ts';
import { proxies } from '../../engine/proxy/proxies.ts';
import { policies } from '../../policy/policies.ts';
import { openStateRoot } from '../../engine/instances/state-root.ts';
import type { Terminal } from '../../engine/terminal/terminal.ts';
import { Workspaces, workspaces } from '../../engine/sessions/workspaces.ts';
import { resumeTerminals } from '../../transports/local/keeper/client/resume-terminals.ts';
import { missingDriver, runsTrue } from '../../transports/local/index.ts';
import { places } from '../../config.ts';
import type { Invocation } from '../command.ts';
import { claimName } from './claim-name.ts';
import { recoverLogs } from './recover-logs.ts';
import { createInstance, type InstanceExtras } from './instance.ts';
import { untilEnded } from './lifecycle.ts';
import { serveLocally } from './local-socket.ts';
import { listenHttp } from './http.ts';
import { failedLogins, mayMove } from './token-safety.ts';
import { welcome } from './welcome.ts';

/** An instance: MCP over HTTP, the session RPC over TCP, a local socket; until a signal comes. */
export async function serve(invocation: Invocation): Promise<number> {
  const { settings, stderr, env, version } = invocation;
  const log = (message: string): void => void stderr.write(`fairlead: ${message}\n`);
  const { home } = places(settings, env);
  openStateRoot(home, { mustWrite: true });
  const peers = new Instances(home, log);
  const about = { version, cwd: settings.cwd ?? invocation.cwd(), token: settings.token };
  const { own, keeper } = await claimName(peers, about, log);
  const token = own.record.auth_token;
  const parts: InstanceExtras['parts'] = [
    [runningInstance, () => new RunningInstance(own, peers, { noTerminals: () => missingDriver(), runsTrue })],
    [workspaces, () => new Workspaces(peers.root)],
    [programsOnPath, () => new ProgramsOnPath(env['PATH'])],
    [loginLinks, ({ clock }) => new LoginLinks(clock)],
    [
      browserLogins,
      ({ clock }) => new BrowserLogins({ clock, path: join(peers.root, 'logins', `${own.record.id}.json`), warn: log }),
    ],
  ];
  const { engine, surface } = await createInstance(invocation, log, {
    parts,
    keeper,
    instance: keeper && own.record.id,
    pauseFile: join(peers.root, 'paused', `${own.record.id}.json`),
    // With these, `fairlead` in a terminal finds the instance it runs in.
    variables: { FAIRLEAD_INSTANCE: own.record.id, FAIRLEAD_HOME: peers.root },
  });
  followDirectory(engine, own);
  // Measure from the start, so that the first health check already knows of a stall.
  engine.service(runningInstance);
  const others = [engine.service(policies), engine.service(proxies), ...(engine.logs ? [engine.logs.settings] : [])];
  engine.service(personSettings).follow(others.map(({ file }) => file));
  const methods = new MethodTable([sessionBook], (op, raw, context) => call(op, raw, { ...context, engine }));
  const failed = failedLogins(engine, log);
  const moves = mayMove(peers, settings.token !== undefined);
  const listenRpc = (): Promise<RpcServer> => {
    const wire = { host: '127.0.0.1', port: settings.rpcPort, mayMove: moves };
    return RpcServer.listen({ ...wire, token, methods, clock: engine.clock, failed });
  };
  const saveSessions = (instance: string): void => {
    const outlives = ({ durable: { farSide: memory } }: Terminal): boolean =>
      memory !== undefined && settings.keepTerminals;
    const gone = autosave(engine, engine.service(workspaces), { instance, log, outlives });
    const restore = `\`fairlead workspace restore ${autosaveNames(instance).lost}\``;
    if (gone > 0) log(`Lost since the previous server: ${count(gone)}. ${restore} creates them again.`);
  };
  let server: HttpServer | undefined;
  let rpc: RpcServer | undefined;
  const code = await untilEnded({
    async serve(signal) {
      if (keeper) {
        const { length } = await resumeTerminals(engine, keeper, signal);
        if (length > 0) log(`Resumed ${count(length)} from the previous server.`);
      }
      engine.background(recoverLogs(engine));
      engine.background(engine.recordings.closeLeft());
      if (settings.autosave) saveSessions(own.record.id);
      // Listen before opening terminals: if a port cannot be had, none is left running.
      server = await listenHttp({ engine, surface, settings, token, failed, mayMove: moves, log });
      engine.service(loginLinks).serveAt(server.url);
      rpc = await listenRpc();
      await engine.sessions.default(signal);
      // Clients that read the files may connect at once.
      own.announce({ mcp_port: rpc.port, http_port: server.port });
      engine.background(serveLocally(invocation, engine, log));
      const keeps = keeper !== undefined && settings.keepTerminals;
      const link = (): string => engine.service(loginLinks).make();
      welcome(invocation, { server, own: own.record, root: peers.root, keeps, link });
      if (!signal.aborted) await once(signal, 'abort');
    },
    async close(leftMs) {
      const began = performance.now();
      own[Symbol.dispose]();
      await Promise.all([server?.[Symbol.asyncDispose](), rpc?.[Symbol.asyncDispose]()]);
      failed[Symbol.dispose]();
      const kept = settings.keepTerminals
        ? engine.terminals.filter(({ ended, durable: { farSide: memory } }) => memory && !ended).length
        : 0;
      await engine.end(leftMs - (performance.now() - began));
      await keeper?.[Symbol.asyncDispose]();
      if (kept > 0)
        log(`Left running: ${count(kept)}. \`fairlead serve\` resumes them, \`fairlead serve --end\` ends them.`);
    },
    log,
  });
  process.exit(code);
}

const count = (terminals: number): string => `${terminals} terminal${terminals === 1 ? '' : 's'}`;
