import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { styleFor } from '../faces/cli/style.ts';
import { FairleadError } from '../contract/errors.ts';
import { type HttpServer, serveMcpHttp } from '../faces/mcp/http.ts';
import { packageRoot } from '../engine/package-root.ts';
import type { Invocation } from './command.ts';
import { createInstance } from './instance.ts';
import { untilEnded } from './lifecycle.ts';
import { serveLocally } from './local-socket.ts';

const preferredPort = 7420;

/** MCP over HTTP until a signal comes. */
export async function serve(invocation: Invocation): Promise<number> {
  const { settings, stderr } = invocation;
  const log = (message: string): void => void stderr.write(`fairlead: ${message}\n`);
  const token = settings.token ?? randomUUID();
  const { engine, surface } = createInstance(invocation, log);
  const options = {
    host: settings.host,
    token,
    allowedHosts: settings.allowHost,
    allowedOrigins: settings.allowOrigin,
    onError: (error: Error) => log(error.message),
  };
  let server: HttpServer | undefined;
  const code = await untilEnded({
    async serve(signal) {
      await engine.sessions.default(signal);
      server = await listen(surface, options, settings.port);
      engine.background(serveLocally(invocation, engine, log));
      welcome(invocation, `${server.url}`, token, settings.token !== undefined);
      if (!signal.aborted) await once(signal, 'abort');
    },
    async close() {
      await server?.[Symbol.asyncDispose]();
      await engine[Symbol.asyncDispose]();
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

function welcome({ stdout, env, version }: Invocation, url: string, token: string, own: boolean): void {
  const { bold, cyan, dim, green } = styleFor(stdout, env);
  const stdio = { command: process.execPath, args: [fileURLToPath(new URL('bin/fairlead.js', packageRoot)), 'mcp'] };
  const shown = own ? '$FAIRLEAD_TOKEN' : token;
  stdout.write(`${green('●')} ${bold('Fairlead')} ${version} is serving MCP

  address   ${cyan(url)}
  token     ${own ? dim('the one in FAIRLEAD_TOKEN') : `${token} ${dim('(new at each start; set FAIRLEAD_TOKEN to keep one)')}`}

${bold('Connect a client')}
  Claude Code   claude mcp add --transport http fairlead ${url} --header "Authorization: Bearer ${shown}"
  Others        {"mcpServers": {"fairlead": {"url": "${url}", "headers": {"Authorization": "Bearer ${shown}"}}}}
  Without HTTP  {"mcpServers": {"fairlead": ${JSON.stringify(stdio)}}}

Then ask your agent: ${cyan('“Use fairlead to run uname -a and tell me what it says.”')}
${dim('Ctrl+C ends the server and its terminals.')}
`);
}
