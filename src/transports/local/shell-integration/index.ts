import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { basename, delimiter, isAbsolute, join } from 'node:path';
import { FairleadError } from '../../../contract/errors.ts';
import { makeDirectorySync } from '../../../system/files/directories.ts';
import { keepsOurs, removeOwnFolder } from '../../../system/files/trusted-path.ts';
import { type ShellKind, type ShellTraits, traitsOf } from '../../../engine/shells/traits.ts';
import { loginFlags } from '../../shell-integration/login.ts';
import { EnvExchange } from './env-exchange.ts';
import { installScripts } from './scripts.ts';

export { EnvExchange, type EnvironmentSnapshot } from './env-exchange.ts';

export type { ShellKind } from '../../../engine/shells/traits.ts';

interface ShellLaunch {
  readonly shell: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly login?: boolean;
}

export interface IntegratedLaunch {
  readonly argv: readonly [string, ...string[]];
  readonly env: Record<string, string>;
  /** Undefined when the shell starts as it would have without us. */
  readonly kind: ShellKind | undefined;
  readonly exchange: EnvExchange | undefined;
  /** The folder `cleanup` removes, for an owner that outlives this process. */
  readonly session: string | undefined;
  /** Removes the session's own files. Call it when the terminal is gone. */
  cleanup(): void;
}

/**
 * How to start a shell so that it marks its prompts and commands. Never throws: a shell we do not know, one that was given
 * arguments of its own, or a state root that cannot be written starts plainly.
 */
export function integrate(
  launch: ShellLaunch,
  options: {
    readonly root: string;
    readonly nonce: string;
    /** The process that ends with the terminal; this one by default. */
    readonly owner?: number;
  },
): IntegratedLaunch {
  const plain: IntegratedLaunch = {
    argv: [launch.shell, ...(launch.login ? loginFlags(launch.shell) : []), ...launch.args],
    env: { ...launch.env },
    kind: undefined,
    exchange: undefined,
    session: undefined,
    cleanup: () => {},
  };
  const shell = launch.args.length === 0 ? recognise(launch.shell, launch.env['PATH']) : undefined;
  if (shell === undefined) return plain;
  let session: string | undefined;
  try {
    const scripts = installScripts(options.root);
    session = openSession(options.root, launch.env['XDG_RUNTIME_DIR'], options.nonce, options.owner ?? process.pid);
    const { argv, env } = start(shell, launch, scripts);
    const opened = session;
    return {
      argv,
      env: { ...env, FAIRLEAD_INTEGRATION: session },
      kind: shell.kind,
      exchange: new EnvExchange(session, shell.kind),
      session: opened,
      cleanup: () => removeOwnFolder(opened),
    };
  } catch {
    // A full or read-only disk must not cost anyone their shell.
    if (session !== undefined) removeOwnFolder(session);
    return plain;
  }
}

interface Shell {
  readonly kind: ShellKind;
  /** What the script for plain shells must know about the line editor. */
  readonly flavour: ShellTraits['plainFlavour'];
}

function recognise(shell: string, path: string | undefined): Shell | undefined {
  const called = basename(shell);
  const real = basename(realpath(shell, path));
  const kind = traitsOf(called)?.integration;
  if (kind !== 'sh') return kind && { kind, flavour: undefined };
  // bash called sh reads nothing but ENV.
  const flavour = traitsOf(real)?.plainFlavour;
  return flavour && { kind, flavour };
}

function realpath(shell: string, path: string | undefined): string {
  const candidates =
    isAbsolute(shell) || shell.includes('/') ? [shell] : (path ?? '').split(delimiter).map((dir) => join(dir, shell));
  for (const candidate of candidates) {
    try {
      if (statSync(candidate).isFile()) return realpathSync(candidate);
    } catch {
      // Not here; the next directory may have it.
    }
  }
  return shell;
}

function start(
  shell: Shell,
  launch: ShellLaunch,
  scripts: string,
): { argv: [string, ...string[]]; env: Record<string, string> } {
  const env: Record<string, string> = { ...launch.env };
  const login = launch.login === true;
  switch (shell.kind) {
    case 'bash':
      // --rcfile counts only for shells that are not login shells; the script reads the login files instead.
      if (login) env['FAIRLEAD_LOGIN'] = '1';
      return { argv: [launch.shell, '--rcfile', join(scripts, 'bash.bash')], env };
    case 'zsh':
      if (env['ZDOTDIR'] !== undefined) env['FAIRLEAD_ZDOTDIR'] = env['ZDOTDIR'];
      env['ZDOTDIR'] = join(scripts, 'zsh');
      break;
    case 'fish':
      if (env['XDG_DATA_DIRS'] !== undefined) env['FAIRLEAD_XDG_DATA_DIRS'] = env['XDG_DATA_DIRS'];
      env['XDG_DATA_DIRS'] = [scripts, env['XDG_DATA_DIRS'] || '/usr/local/share:/usr/share'].join(':');
      break;
    case 'sh':
      if (env['ENV'] !== undefined) env['FAIRLEAD_ENV'] = env['ENV'];
      if (shell.flavour !== undefined) env['FAIRLEAD_SHELL'] = shell.flavour;
      env['ENV'] = join(scripts, 'sh.sh');
      break;
  }
  return { argv: [launch.shell, ...(login ? ['-l'] : [])], env };
}

/** An own folder for every terminal, with an unguessable name. The script empties the nonce file at once. */
function openSession(root: string, runtimeDir: string | undefined, nonce: string, owner: number): string {
  const name = `fairlead-${owner}-${randomBytes(12).toString('hex')}`;
  // In memory where there is such a place: bash writes a line there for every command, and on a disk that costs it 1 ms.
  for (const parent of [runtimeDir, '/dev/shm', join(root, 'shell-integration', 'sessions')]) {
    if (parent === undefined || !isAbsolute(parent)) continue;
    const session = join(parent, name);
    try {
      if (parent.startsWith(root)) makeDirectorySync(parent, 0o700);
      // The shell sources files of this folder, so no other user may be able to replace it.
      if (!keepsOurs(parent)) continue;
      sweep(parent);
      mkdirSync(session, { mode: 0o700 });
    } catch {
      continue;
    }
    for (const [file, text] of [
      ['nonce', `${nonce}\n`],
      ['scratch', ''],
    ] as const) {
      writeFileSync(join(session, file), text, { mode: 0o600, flag: 'wx' });
    }
    return session;
  }
  throw new FairleadError('unavailable', 'No place for the files of a terminal.');
}

const swept = new Set<string>();

/** Removes, once, what processes left behind that were killed before they could clean up. */
function sweep(parent: string): void {
  if (swept.has(parent)) return;
  swept.add(parent);
  try {
    for (const name of readdirSync(parent)) {
      const pid = /^fairlead-(\d+)-[0-9a-f]{24}$/.exec(name)?.[1];
      if (pid === undefined || isAlive(Number(pid))) continue;
      removeOwnFolder(join(parent, name));
    }
  } catch {
    // Nothing depends on a tidy folder.
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'EPERM';
  }
}
