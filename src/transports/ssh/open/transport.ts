import { FairleadError } from '../../../contract/errors.ts';
import type { Engine } from '../../../engine/engine.ts';
import {
  type AskPerson,
  type OpenRequest,
  refuseOptions,
  type TargetList,
  type Transport,
} from '../../../engine/terminal/transport.ts';
import { hostAndPort } from '../config/address.ts';
import type { AskPassword } from '../login/auth.ts';
import { ssh } from '../index.ts';
import type { LiveSession } from '../sessions/live-session.ts';
import { onSession } from './on-session.ts';
import { openChannel } from './open-channel.ts';
import type { AskTrust } from '../login/host-key-check.ts';
import { hostKeyQuestion, isYes, personQuestion } from '../login/person-question.ts';
import type { ConnectOutcome } from '../sessions/sessions.ts';

interface SshTransportOptions {
  /** Asked for when something is opened: an engine is made with its transports. */
  readonly engine: () => Engine;
  /** Have shells mark their prompts and commands. */
  readonly integration: boolean;
  /** Of the machine we run on; hosts are offered its language, as `ssh` does. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Opens `ssh:user@host[:port]`, or `ssh:name` for a host of the SSH config, on a session of the same principal. */
export function sshTransport({ engine, integration, env }: SshTransportOptions): Transport {
  const language = Object.fromEntries(
    Object.entries(env).filter(
      (pair): pair is [string, string] => /^LANG$|^LC_/.test(pair[0]) && pair[1] !== undefined,
    ),
  );
  return {
    scheme: 'ssh',
    open: async (request, signal) => {
      refuseOptions('ssh', request);
      const { session, notes } = await sessionFor(engine(), request, signal);
      const opened = await onSession(session, signal, (stop) =>
        openChannel(session, request, { integration, language }, stop),
      );
      return { ...opened, owner: request.principal, notes };
    },
    targets: () => sshTargets(engine()),
  };
}

async function sshTargets(engine: Engine): Promise<TargetList> {
  const hosts = await engine.service(ssh).connector.configuredHosts();
  const named = hosts.slice(0, maxHosts).map(({ alias, hostName = alias, user, port = 22 }) => ({
    target: `ssh:${alias}`,
    summary: `${user === undefined ? '' : `${user}@`}${hostAndPort(hostName, port)}`,
    address: hostAndPort(hostName, port),
    ...(user !== undefined && { user }),
  }));
  const pattern = {
    target: 'ssh:user@host[:port]',
    summary: 'a shell or program on that host',
    isPattern: true as const,
  };
  return {
    targets: [pattern, ...named],
    shells: [],
  };
}

/** Some people's SSH config names thousands. */
const maxHosts = 100;

interface Reached {
  readonly session: LiveSession;
  readonly notes: readonly string[];
}

async function sessionFor(engine: Engine, request: OpenRequest, signal: AbortSignal): Promise<Reached> {
  const { sessions, settings } = engine.service(ssh);
  const { username, address } = parseTarget(request.target);
  const principal = request.principal ?? everybody;
  // Where the person cannot be asked on the spot, the question waits for the person, and the answer for the next try.
  const later: AskPerson = (question, stop) =>
    engine.questions.ask({ ...question, principal, asker: 'terminal' }, undefined, stop);
  const { ask = later } = request;
  const askPassword: AskPassword = (question, stop) => ask(personQuestion(question), stop);
  const askTrust: AskTrust = async (question, stop) => isYes(await ask(hostKeyQuestion(question), stop));
  const outcome = await sessions.connect(
    {
      address,
      username,
      usualTimeoutMs: settings.connectTimeoutMs,
      maxRetries: settings.maxRetries,
      retryDelayMs: settings.retryDelayMs,
      compress: settings.compression,
      reuse: 'auto',
      askPassword,
      askTrust,
    },
    principal,
    signal,
  );
  if (outcome.status === 'suggested') throw new FairleadError('internal', 'A session was suggested to nobody.');
  return { session: outcome.session, notes: outcome.status === 'ok' ? trust(outcome) : [] };
}

/** What was learned of the host on the way in (docs/requirements/remote.md 9.3). */
function trust({ session, connected }: ConnectOutcome & { readonly status: 'ok' }): string[] {
  const { hostKey, warnings } = connected;
  const place = hostAndPort(session.host, session.port);
  return [
    ...(hostKey.state === 'new'
      ? [`the key of ${place} was not known and is now recorded: ${hostKey.fingerprint}`]
      : []),
    ...warnings,
  ];
}

/** A terminal without an owner uses a session without an owner. */
const everybody = '';

function parseTarget(target: string): { readonly username: string | undefined; readonly address: string } {
  const place = target.replace(/^ssh:(?:\/\/)?/, '');
  const at = place.lastIndexOf('@');
  const [username, address] = at < 0 ? [undefined, place] : [place.slice(0, at), place.slice(at + 1)];
  if (address !== '' && username !== '') return { username, address };
  throw new FairleadError('invalid_input', `${JSON.stringify(target.slice(0, 80))} names no host.`, {
    hint: 'Write ssh:user@host, ssh:user@host:port, or ssh: and a name of the SSH config.',
  });
}
