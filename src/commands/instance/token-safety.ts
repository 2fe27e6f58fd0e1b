import type { Engine } from '../../engine/engine.ts';
import type { Log } from '../../system/incident.ts';
import type { Instances } from '../../engine/instances/instances.ts';
import { FailedLogins } from '../../faces/door/failed-logins.ts';

/**
 * Whether the server may take another port when this one is taken. Clients know a fixed token together with its usual port and would
 * send it to the program that listens there: the server moves only when that program is another instance of the same person.
 */
export function mayMove(peers: Instances, isTokenFixed: boolean): (port: number) => boolean {
  const isOurs = (port: number): boolean =>
    peers.list().some(({ http_port, mcp_port }) => http_port === port || mcp_port === port);
  return (port) => !isTokenFixed || isOurs(port);
}

/** Reports wrong tokens of every port in the log and in the audit trail. */
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
