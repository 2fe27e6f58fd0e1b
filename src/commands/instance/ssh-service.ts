import { homedir } from 'node:os';
import { places } from '../../config.ts';
import type { IdempotencyLimits } from '../../engine/call/idempotency.ts';
import type { Log } from '../../system/incident.ts';
import type { ServiceKey, ServiceMaker } from '../../engine/call/service.ts';
import { readSshSettings } from '../../ssh-settings.ts';
import { sshConnector } from '../../transports/ssh/sessions/connect.ts';
import { Ssh, ssh } from '../../transports/ssh/index.ts';
import type { Invocation } from '../command.ts';

interface SshPart {
  readonly part: readonly [ServiceKey<AsyncDisposable>, ServiceMaker];
  readonly idempotency: IdempotencyLimits;
}

/** The SSH service. The library is loaded with the first connection. */
export function sshPart({ settings, env }: Invocation, log: Log): SshPart {
  const { idempotencyTtlMs, idempotencyMaxEntries, hostKeyPolicy, ...values } = readSshSettings(env, log);
  const connector = sshConnector({
    home: env['HOME'] || homedir(),
    env,
    knownHostsFile: places(settings, env).knownHosts,
    hostKeyPolicy: settings.sshHostKeyPolicy ?? hostKeyPolicy,
  });
  return {
    part: [ssh, ({ clock }) => new Ssh({ settings: values, connector, clock })],
    idempotency: { ttlMs: idempotencyTtlMs, maxEntries: idempotencyMaxEntries },
  };
}
