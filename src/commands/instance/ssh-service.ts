import { homedir } from 'node:os';
import { places } from '../../config.ts';
import type { IdempotencyLimits } from '../../engine/call/idempotency.ts';
import type { Log } from '../../system/incident.ts';
import type { ServiceMakers } from '../../engine/call/service.ts';
import { readSshSettings } from '../../ssh-settings.ts';
import { sshConnector } from '../../transports/ssh/sessions/connect.ts';
import { Streams, streams } from '../../streams/streams.ts';
import { resourceSources } from '../../transports/ssh/resources/sources.ts';
import { Ssh, ssh } from '../../transports/ssh/index.ts';
import type { Invocation } from '../command.ts';

interface SshPart {
  /** The SSH service, and that of everything which can be followed. */
  readonly parts: ServiceMakers;
  readonly idempotency: IdempotencyLimits;
}

/** The SSH library is loaded with the first connection. */
export function sshPart({ settings, env }: Invocation, log: Log): SshPart {
  const {
    idempotencyTtlMs,
    idempotencyMaxEntries,
    hostKeyPolicy,
    streams: followed,
    ...values
  } = readSshSettings(env, log);
  const connector = sshConnector({
    home: env['HOME'] || homedir(),
    env,
    knownHostsFile: places(settings, env).knownHosts,
    hostKeyPolicy: settings.sshHostKeyPolicy ?? hostKeyPolicy,
  });
  return {
    parts: [
      [ssh, ({ clock }) => new Ssh({ settings: values, connector, clock })],
      [streams, (engine) => new Streams(engine, { settings: followed, sources: resourceSources(engine) })],
    ],
    idempotency: { ttlMs: idempotencyTtlMs, maxEntries: idempotencyMaxEntries },
  };
}
