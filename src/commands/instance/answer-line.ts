import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageRoot } from '../../system/package-root.ts';

interface Installation {
  readonly env: NodeJS.ProcessEnv;
  /** Where this process keeps its state. */
  readonly home: string;
  readonly script?: string;
  readonly node?: string;
  readonly platform?: NodeJS.Platform;
}

/**
 * The command line that answers a question of this process from another terminal. It works with this installation: with
 * the path of the program if `fairlead` is not on the PATH, and with its state directory if that is not the default.
 */
export function answerLine({
  env,
  home,
  script = fileURLToPath(new URL('bin/fairlead.js', packageRoot)),
  node = process.execPath,
  platform = process.platform,
}: Installation): string {
  const found = (name: string, file: string): boolean => isOnPath(name, file, env, platform);
  const program = found('fairlead', script) ? ['fairlead'] : [found('node', node) ? 'node' : node, script];
  const usual = resolve(join(env['HOME'] ?? homedir(), '.fairlead'));
  const words = [...program, 'answer', ...(resolve(home) === usual ? [] : ['--home', home])];
  return words.map((word) => quoted(word, platform)).join(' ');
}

/** Whether the first program of this name on the PATH is this file, without directories that only npm adds. */
function isOnPath(name: string, file: string, env: NodeJS.ProcessEnv, platform: NodeJS.Platform): boolean {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '' && !ofNpm.test(folder));
  const names = platform === 'win32' ? [`${name}.exe`, `${name}.cmd`] : [name];
  const paths = folders.flatMap((folder) => names.map((one) => join(folder, one)));
  const first = paths.map(realPath).find((path) => path !== undefined);
  // npm's .cmd file is not a link to the program; it only has its name.
  return first !== undefined && (first === realPath(file) || first.endsWith('.cmd'));
}

const ofNpm = /[\\/]node_modules[\\/]\.bin[\\/]?$|[\\/]node-gyp-bin[\\/]?$/;

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

function quoted(word: string, platform: NodeJS.Platform): string {
  if (/^[\w@%+=:,./~-]+$/.test(word) && !word.startsWith('~')) return word;
  if (platform === 'win32') return /[\s&()^;]/.test(word) ? `"${word}"` : word;
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
