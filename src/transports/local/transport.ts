import { randomBytes } from 'node:crypto';
import { accessSync, constants, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { basename, join, resolve } from 'node:path';
import type { Channel, Size } from '../../engine/terminal/channel.ts';
import {
  type ChannelRequest,
  type OpenedChannel,
  refuseOptions,
  type TargetList,
  type Transport,
} from '../../engine/terminal/transport.ts';
import { type LocalTarget, ptyDriver } from './index.ts';
import { integrate } from './shell-integration/index.ts';

export interface LocalOptions {
  /** State root; integration scripts are kept below it. */
  readonly root: string;
  readonly shell: string | undefined;
  readonly cwd: string;
  /** Where those begin that are to begin at home. */
  readonly home?: string | undefined;
  /** What every terminal's environment starts from. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Added to it: variables from the settings of the server. */
  readonly extraEnv: Readonly<Record<string, string>>;
  readonly integration: boolean;
  /** Variables that are found out anew for each terminal. */
  readonly variables?: ((signal: AbortSignal) => Promise<Readonly<Record<string, string>>>) | undefined;
}

/** Where the terminals live: in this process, or in a keeper that outlives it. */
export interface PtyHost {
  readonly open: (
    target: LocalTarget,
    size: Size,
    terminalId: string,
    signal: AbortSignal,
    own: OwnFiles,
  ) => Promise<Channel>;
  /** The process that ends with the terminals, where it is not this one. It removes their own files. */
  readonly owner?: (signal: AbortSignal) => Promise<number>;
}

/** The folder of a shell's session, and how to talk to the shell through it. */
interface OwnFiles {
  readonly folder?: string;
  readonly about?: Readonly<Record<string, string>>;
}

function inThisProcess(): PtyHost {
  const driver = ptyDriver();
  return { open: (target, size, _, signal) => driver.open(target, size, signal) };
}

/** Opens programs on this machine: a shell with integration, or a command as given. */
export function localTransport(options: LocalOptions, place: PtyHost = inThisProcess()): Transport {
  return {
    scheme: 'local',
    open: (request, signal) => open(options, place, request, signal),
    targets: localTargets,
  };
}

async function open(
  options: LocalOptions,
  place: PtyHost,
  request: ChannelRequest,
  signal: AbortSignal,
): Promise<OpenedChannel> {
  refuseOptions('local', request);
  const { terminalId } = request;
  const found = await options.variables?.(signal);
  const env = { ...environment(options), ...found, ...request.env, FAIRLEAD: '1', FAIRLEAD_SESSION: terminalId };
  const start = request.fromHome === true && isDirectory(options.home) ? options.home : options.cwd;
  const cwd = expand(request.cwd ?? start, env, options.cwd);
  const shell = expandHome(request.shell ?? options.shell ?? loginShell(options.env), env);
  const argv = request.argv ?? (request.command === undefined ? undefined : throughShell(shell, request.command));
  if (argv) {
    const channel = await place.open({ argv, cwd, env }, request.size, terminalId, signal, {});
    return { channel, program: argv[0] };
  }
  const launch = { shell, args: [], env };
  if (!options.integration) {
    const channel = await place.open({ argv: [shell], cwd, env }, request.size, terminalId, signal, {});
    return { channel, program: shell };
  }
  const nonce = randomBytes(8).toString('hex');
  const owner = await place.owner?.(signal);
  const integrated = integrate(launch, { root: options.root, nonce, ...(owner === undefined ? {} : { owner }) });
  const { session, kind } = integrated;
  const own = session === undefined || kind === undefined ? {} : { folder: session, about: { kind } };
  try {
    const target = { argv: integrated.argv, cwd, env: integrated.env };
    const channel = await place.open(target, request.size, terminalId, signal, own);
    const trusted = integrated.kind === undefined ? undefined : nonce;
    const { exchange: environment } = integrated;
    const release = owner === undefined ? { release: () => integrated.cleanup() } : {};
    return { channel, program: shell, nonce: trusted, environment, ...release };
  } catch (thrown) {
    integrated.cleanup();
    throw thrown;
  }
}

async function localTargets(): Promise<TargetList> {
  const listed = await readFile('/etc/shells', 'utf8').catch(() => '');
  const paths = listed.split('\n').filter((line) => line.startsWith('/') && isExecutable(line));
  // The same shell is listed below /bin and /usr/bin.
  const shells = [...new Map(paths.map((path) => [basename(path), path])).keys()];
  return { targets: [{ target: 'local', summary: 'a shell or program on this machine' }], shells };
}

/** The caller's environment less our own settings and secrets, with what a terminal must say of itself. */
function environment({ env, extraEnv }: LocalOptions): Record<string, string> {
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && !name.startsWith('FAIRLEAD')) result[name] = value;
  }
  // What the terminal we were started from said of itself is not true of ours.
  for (const name of ['COLUMNS', 'LINES', 'TERMCAP', 'STY', 'TMUX', 'TMUX_PANE', 'WINDOWID', 'VTE_VERSION'])
    delete result[name];
  return { ...result, TERM: 'xterm-256color', COLORTERM: 'truecolor', TERM_PROGRAM: 'Fairlead', ...extraEnv };
}

/** `$SHELL`, the passwd entry, bash, sh; the first that can be run. */
function loginShell(env: LocalOptions['env']): string {
  if (process.platform === 'win32') return env['COMSPEC'] ?? 'cmd.exe';
  for (const shell of [env['SHELL'], passwdShell(), '/bin/bash']) {
    if (shell !== undefined && shell !== '' && isExecutable(shell)) return shell;
  }
  return '/bin/sh';
}

function passwdShell(): string | undefined {
  try {
    return userInfo().shell ?? undefined;
  } catch {
    return undefined;
  }
}

const throughShell = (shell: string, line: string): readonly [string, ...string[]] =>
  /^cmd(?:\.exe)?$/i.test(basename(shell)) ? [shell, '/c', line] : [shell, '-c', line];

function isDirectory(path: string | undefined): path is string {
  try {
    return path !== undefined && statSync(path).isDirectory();
  } catch {
    // It may be missing or unreadable, or its file server does not answer.
    return false;
  }
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function expand(path: string, env: Readonly<Record<string, string>>, base: string): string {
  return resolve(base, expandHome(path, env));
}

function expandHome(path: string, env: Readonly<Record<string, string>>): string {
  const home = env['HOME'];
  if (home === undefined || (path !== '~' && !path.startsWith('~/'))) return path;
  return join(home, path.slice(1));
}
