import { FairleadError } from '../../contract/errors.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Log } from '../../system/incident.ts';
import type { Instances } from '../../engine/instances/instances.ts';
import { FailedLogins } from '../../faces/door/failed-logins.ts';
import { type HttpServer, serveMcpHttp } from '../../faces/http/server.ts';

const preferredPort = 7420;
const nextPorts = 5;

/** Whether a server may go to another port when this one is taken. */
export type MayMove = (port: number) => boolean;

/**
 * A token that outlives the server is known to clients together with its usual port: whatever program took that port would be sent
 * the token. Only to another instance of the same person it may give way.
 */
export function mayMove(peers: Instances, isTokenFixed: boolean): MayMove {
  const isOurs = (port: number): boolean =>
    peers.list().some(({ http_port, mcp_port }) => http_port === port || mcp_port === port);
  return (port) => !isTokenFixed || isOurs(port);
}

/** The port asked for, or else the preferred one, the five after it, and then any. */
export async function listenHttp(
  surface: Parameters<typeof serveMcpHttp>[0],
  options: Omit<Parameters<typeof serveMcpHttp>[1], 'port'>,
  wanted: number | undefined,
  moves: MayMove,
  first = preferredPort,
): Promise<HttpServer> {
  if (wanted !== undefined) return serveMcpHttp(surface, { ...options, port: wanted });
  for (let port = first; port <= first + nextPorts; port += 1) {
    try {
      return await serveMcpHttp(surface, { ...options, port });
    } catch (error) {
      const cause = error instanceof FairleadError ? (error.cause as NodeJS.ErrnoException | undefined) : undefined;
      if (cause?.code !== 'EADDRINUSE') throw error;
      if (!moves(port)) throw portTaken(port, error);
    }
  }
  return serveMcpHttp(surface, { ...options, port: 0 });
}

function portTaken(port: number, cause: unknown): FairleadError {
  return new FairleadError(
    'unavailable',
    `Port ${port} is taken by another program, and the token is fixed (FAIRLEAD_TOKEN): clients would send it there.`,
    { hint: `End that program, choose a port with --port, or leave the token to the server.`, cause },
  );
}

/** Every wrong token in the log and in the audit trail, whichever port it was tried on. */
export function failedLogins(engine: Engine, log: Log): FailedLogins {
  return new FailedLogins(engine.clock, ({ peer, face, count }) => {
    const times = count === 1 ? '' : ` (${count} times)`;
    log(`A wrong token was sent by ${peer} over ${face === 'rpc' ? 'the session RPC' : 'HTTP'}${times}.`);
    engine.audit.add({
      operation: 'auth.login',
      access: 'control',
      caller: 'anonymous',
      origin: face,
      peer,
      terminal: undefined,
      allowed: false,
      error: 'not_authenticated',
      durationMs: 0,
      at: new Date(engine.clock.now()).toISOString(),
      ...(count === 1 ? {} : { detail: `${count} wrong tokens` }),
    });
  });
}
