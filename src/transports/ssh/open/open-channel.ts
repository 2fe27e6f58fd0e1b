import { randomBytes } from 'node:crypto';
import { FairleadError } from '../../../contract/errors.ts';
import type { ChannelRequest, OpenedChannel, OpenRequest } from '../../../engine/terminal/transport.ts';
import { channelOf, loginShell } from './channel-of.ts';
import { begin } from './integration-start.ts';
import { firstCommand, type RemoteLaunch } from './integration.ts';
import type { PtyRequest, SshProcess } from '../link/link.ts';
import type { SshSession } from '../sessions/session.ts';

/** What a terminal needs of a session. */
export type Channels = Pick<SshSession, 'exec' | 'shell'>;

interface ChannelOptions {
  readonly integration: boolean;
  /** `LANG` and its like; a server takes what it allows. */
  readonly language?: Readonly<Record<string, string>>;
}

const term = 'xterm-256color';

/**
 * A terminal at the far side: a shell that marks what it does, a program, or whatever the server gives where neither can
 * be asked for. Rejects with `invalid_input` when something that was named is not there.
 */
export async function openChannel(
  session: Channels,
  request: ChannelRequest,
  options: ChannelOptions,
  signal: AbortSignal,
): Promise<OpenedChannel> {
  check(request);
  const { argv, shell, command, cwd, env, size } = request;
  const launch: RemoteLaunch = {
    token: randomBytes(9).toString('base64url'),
    nonce: randomBytes(8).toString('hex'),
    folder: `fairlead-${randomBytes(12).toString('hex')}`,
    argv,
    shell,
    command,
    cwd,
    env: {
      COLORTERM: 'truecolor',
      TERM_PROGRAM: 'Fairlead',
      ...env,
      FAIRLEAD: '1',
      FAIRLEAD_SESSION: request.terminalId,
    },
    integration: options.integration,
  };
  const pty = { term, size };
  const ways = { pty, env: options.language ?? {} };
  const process = await firstProcess(session, launch.token, ways, signal);
  const begun = process && (await begin(process, launch, signal));
  if (process === undefined || begun === undefined || begun.as === 'nothing') {
    return { channel: channelOf(await plain(session, request, ways, signal), { pty: true }), program: loginShell };
  }
  const channel = channelOf(process, { pty: true, output: begun.output });
  if (begun.as === 'other') return { channel, program: loginShell };
  const program = argv?.[0] ?? shell ?? (begun.loginShell || loginShell);
  return begun.marked ? { channel, program, nonce: launch.nonce } : { channel, program };
}

interface Ways {
  readonly pty: PtyRequest;
  readonly env: Readonly<Record<string, string>>;
}

async function firstProcess(
  session: Channels,
  token: string,
  ways: Ways,
  signal: AbortSignal,
): Promise<SshProcess | undefined> {
  try {
    return await session.exec(firstCommand(token), ways, signal);
  } catch (error) {
    // A server that knows no commands may still have a shell.
    if (error instanceof FairleadError && error.data?.['refused'] === 'request') return undefined;
    throw error;
  }
}

/** For routers, Windows and accounts with a command of their own: what the server starts for everybody. */
async function plain(
  session: Channels,
  { argv, shell, command, cwd }: OpenRequest,
  { pty, env }: Ways,
  signal: AbortSignal,
): Promise<SshProcess> {
  const asked = Object.entries({ argv, command, shell, cwd }).find(([, given]) => given !== undefined)?.[0];
  if (asked === undefined) return await session.shell(pty, { env }, signal);
  throw new FairleadError('unsupported', `This host gives a login and nothing else: it takes no ${asked}.`, {
    hint: 'Open it without argv, command, shell, cwd and env.',
  });
}

function check({ argv, shell, command, cwd, env = {} }: OpenRequest): void {
  const texts = [...(argv ?? []), shell ?? '', command ?? '', cwd ?? '', ...Object.values(env)];
  if (texts.some((text) => text.includes('\0'))) {
    throw new FairleadError('invalid_input', 'An argument, the directory or the environment contains a NUL byte.', {
      hint: 'Remove it: no program can receive one.',
    });
  }
  const name = Object.keys(env).find((one) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(one));
  if (name === undefined) return;
  throw new FairleadError('invalid_input', `"${name.slice(0, 80)}" is not a name for an environment variable.`, {
    hint: 'Use letters, digits and underscores, not starting with a digit.',
  });
}
