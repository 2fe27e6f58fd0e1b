import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { styleFor } from '../faces/cli/style.ts';
import { FairleadError } from '../contract/errors.ts';
import { type HttpServer, serveMcpHttp } from '../faces/mcp/http.ts';
import { call } from '../engine/call.ts';
import { followDirectory } from '../engine/instances/follow-directory.ts';
import { Instances } from '../engine/instances/instances.ts';
import type { InstanceRecord } from '../engine/instances/record.ts';
import { OwnInstance } from '../engine/instances/own-instance.ts';
import { RunningInstance, runningInstance } from '../engine/instances/running.ts';
import { packageRoot } from '../engine/package-root.ts';
import { MethodTable } from '../faces/jsonrpc/methods.ts';
import { RpcServer } from '../faces/jsonrpc/server.ts';
import { sessionBook } from '../operations/session/index.ts';
import { Workspaces, workspaces } from '../engine/workspaces.ts';
import { adoptKept } from '../transports/local/keeper/adopt.ts';
import { keeperFor } from '../transports/local/keeper/client.ts';
import { missingDriver } from '../transports/local/index.ts';
import { places } from '../config.ts';
import type { Invocation } from './command.ts';
import { endTerminals } from './end-terminals.ts';
import { createInstance } from './instance.ts';
import { untilEnded } from './lifecycle.ts';
import { serveLocally } from './local-socket.ts';

const preferredPort = 7420;

/** An instance: MCP over HTTP, the session RPC over TCP, a local socket; until a signal comes. */
export async function serve(invocation: Invocation): Promise<number> {
  const { settings, stderr, env, version } = invocation;
  if (invocation.flags.has('end')) return await endTerminals(invocation);
  const log = (message: string): void => void stderr.write(`fairlead: ${message}\n`);
  const peers = new Instances(places(settings, env).home);
  const own = OwnInstance.claim(peers, { version, cwd: settings.cwd ?? invocation.cwd, token: settings.token });
  const token = own.record.auth_token;
  const keeper = process.platform === 'linux' ? keeperFor(own.record.id, peers.root, { log }) : undefined;
  const parts = [
    [runningInstance, () => new RunningInstance(own, peers, { noTerminals: () => missingDriver() })],
    [workspaces, () => new Workspaces(peers.root)],
  ] as const;
  const { engine, surface } = await createInstance(invocation, log, {
    parts,
    keeper,
    variables: { FAIRLEAD_INSTANCE: own.record.id },
  });
  followDirectory(engine, own);
  const methods = new MethodTable([sessionBook], (op, raw, context) => call(op, raw, { ...context, engine }));
  const options = {
    host: settings.host,
    token,
    allowedHosts: settings.allowHost,
    allowedOrigins: settings.allowOrigin,
    onError: (error: Error) => log(error.message),
  };
  let server: HttpServer | undefined;
  let rpc: RpcServer | undefined;
  const code = await untilEnded({
    async serve(signal) {
      if (keeper) {
        const { length } = await adoptKept(engine, keeper, signal);
        if (length > 0) log(`Going on with ${count(length)} of the server before.`);
      }
      // Before anything is opened that would be left running if this cannot be.
      server = await listen(surface, options, settings.port);
      rpc = await RpcServer.listen({ host: '127.0.0.1', port: settings.rpcPort, token, methods, clock: engine.clock });
      await engine.sessions.default(signal);
      // Whoever reads the files may come at once.
      own.announce({ mcp_port: rpc.port, http_port: Number(new URL(server.url).port) });
      engine.background(serveLocally(invocation, engine, log));
      welcome(invocation, server.url, own.record, tokenLine(invocation, own, peers.root), keeper !== undefined);
      if (!signal.aborted) await once(signal, 'abort');
    },
    async close() {
      own[Symbol.dispose]();
      await Promise.all([server?.[Symbol.asyncDispose](), rpc?.[Symbol.asyncDispose]()]);
      const kept = settings.keepTerminals ? engine.terminals.filter(({ ended, memory }) => memory && !ended).length : 0;
      await engine[Symbol.asyncDispose]();
      await keeper?.[Symbol.asyncDispose]();
      if (kept > 0) log(`Left running: ${count(kept)}. \`fairlead serve\` goes on with them, with --end it ends them.`);
    },
    log,
  });
  process.exit(code);
}

/** The port asked for, or else the preferred one, the five after it, and then any. */
async function listen(
  surface: Parameters<typeof serveMcpHttp>[0],
  options: Omit<Parameters<typeof serveMcpHttp>[1], 'port'>,
  wanted: number | undefined,
): Promise<HttpServer> {
  if (wanted !== undefined) return serveMcpHttp(surface, { ...options, port: wanted });
  for (let port = preferredPort; port <= preferredPort + 5; port += 1) {
    try {
      return await serveMcpHttp(surface, { ...options, port });
    } catch (error) {
      const cause = error instanceof FairleadError ? (error.cause as NodeJS.ErrnoException | undefined) : undefined;
      if (cause?.code !== 'EADDRINUSE') throw error;
    }
  }
  return serveMcpHttp(surface, { ...options, port: 0 });
}

const count = (terminals: number): string => `${terminals} terminal${terminals === 1 ? '' : 's'}`;

/** What to say of the token, and what to write in its place. Into a file or a pipe it does not go (R-RPC-009). */
function tokenLine(
  { settings, stdout, env }: Invocation,
  { record }: OwnInstance,
  root: string,
): { readonly says: string; readonly shown: string } {
  const { dim } = styleFor(stdout, env);
  const kept = 'set FAIRLEAD_TOKEN to keep one';
  if (settings.token !== undefined) return { says: dim('the one in FAIRLEAD_TOKEN'), shown: '$FAIRLEAD_TOKEN' };
  if (stdout.isTTY) {
    return { says: `${record.auth_token} ${dim(`(new at each start; ${kept})`)}`, shown: record.auth_token };
  }
  const file = join(root, 'instances', `${record.id}.json`);
  return { says: `auth_token in ${file} ${dim(`(new at each start; ${kept})`)}`, shown: '<token>' };
}

function welcome(
  invocation: Invocation,
  url: string,
  own: Pick<InstanceRecord, 'id' | 'mcp_port'>,
  { says, shown }: ReturnType<typeof tokenLine>,
  keeps: boolean,
): void {
  const { stdout, env, version, settings } = invocation;
  const { bold, cyan, dim, green } = styleFor(stdout, env);
  const stdio = { command: process.execPath, args: [fileURLToPath(new URL('bin/fairlead.js', packageRoot)), 'mcp'] };
  stdout.write(`${green('●')} ${bold('Fairlead')} ${version} is serving MCP

  address   ${cyan(url)}
  token     ${says}
  instance  ${own.id} ${dim(`(session RPC on 127.0.0.1:${own.mcp_port})`)}

${bold('Connect a client')}
  Claude Code   claude mcp add --transport http fairlead ${url} --header "Authorization: Bearer ${shown}"
  Others        {"mcpServers": {"fairlead": {"url": "${url}", "headers": {"Authorization": "Bearer ${shown}"}}}}
  Without HTTP  {"mcpServers": {"fairlead": ${JSON.stringify(stdio)}}}

Then ask your agent: ${cyan('“Use fairlead to run uname -a and tell me what it says.”')}
You yourself: ${cyan('fairlead session list')}, ${cyan('fairlead attach')}, ${cyan('fairlead --help')}
${dim(keeps && settings.keepTerminals ? 'Ctrl+C ends the server; its terminals run on for the next one. fairlead serve --end ends them.' : 'Ctrl+C ends the server and its terminals.')}
`);
}
