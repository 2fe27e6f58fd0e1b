import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { writePrivate } from '../../system/files/private-files.ts';
import type { Surroundings } from '../command.ts';

const openers: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};

/**
 * Shows a page in the person's browser. Every user of the machine can read the arguments of a process, and the link logs in: what is
 * opened is a private file that leads to it.
 */
export async function openPage(url: string, home: string, { env, stderr }: Surroundings): Promise<void> {
  const hasDisplay = process.platform !== 'linux' || (env['DISPLAY'] ?? env['WAYLAND_DISPLAY'] ?? '') !== '';
  const [program = 'xdg-open', ...before] = openers[process.platform] ?? ['xdg-open'];
  if (!hasDisplay) return void stderr.write('There is no display here: open the link in a browser.\n');
  const path = join(home, 'run', 'open.html');
  writePrivate(path, leadingTo(url));
  const child = spawn(program, [...before, pathToFileURL(path).href], { stdio: 'ignore', detached: true });
  try {
    await once(child, 'spawn');
    child.unref();
  } catch {
    stderr.write('No browser could be started: open the link yourself.\n');
  }
}

/** The link has letters, digits and a few signs: nothing in it needs escaping. */
const leadingTo = (url: string): string =>
  `<!doctype html><meta charset="utf-8"><title>Fairlead</title><meta http-equiv="refresh" content="0; url=${url}"><a href="${url}">Open Fairlead</a>\n`;
