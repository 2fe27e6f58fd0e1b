import { mkdtemp, readdir, readFile, rmdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FairleadError } from '../../contract/errors.ts';
import { removeFile } from '../../system/files/remove-file.ts';
import { timeLimit } from '../../system/time-limit.ts';
import { type PngFacts, pngFacts, type SystemTools } from './system-tools.ts';

/** A program that saves the desktop as a file, and what must be set for it to find the desktop. */
interface Grabber {
  readonly program: string;
  readonly args: (file: string) => readonly string[];
  readonly needs: readonly string[];
}

const wayland = ['WAYLAND_DISPLAY'];
const x11 = ['DISPLAY'];
const either = [...wayland, ...x11];

/** Where there is a display server, in the order in which they are tried. */
const grabbers: readonly Grabber[] = [
  { program: 'grim', args: (file) => [file], needs: wayland },
  { program: 'gnome-screenshot', args: (file) => ['-f', file], needs: either },
  { program: 'spectacle', args: (file) => ['-b', '-n', '-f', '-o', file], needs: either },
  { program: 'scrot', args: (file) => ['--overwrite', file], needs: x11 },
  { program: 'maim', args: (file) => [file], needs: x11 },
];
const mac: readonly Grabber[] = [{ program: 'screencapture', args: (file) => ['-x', '-t', 'png', file], needs: [] }];

const limitMs = 10_000;
const largestFile = 64 << 20;

export interface Desktop extends PngFacts {
  readonly bytes: Uint8Array;
  readonly program: string;
}

/** A picture of the desktop, by the first program of the system that can take one. */
export async function grabDesktop(tools: SystemTools, signal: AbortSignal): Promise<Desktop> {
  const known = tools.platform === 'darwin' ? mac : tools.platform === 'win32' ? [] : grabbers;
  const usable = known.filter(({ needs }) => needs.length === 0 || needs.some((name) => tools.env[name]));
  if (usable.length === 0) throw none(whyNone(tools));
  using stop = timeLimit(signal, limitMs);
  const limit = stop.signal;
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-desktop-'));
  try {
    for (const { program, args } of usable) {
      const file = join(folder, `${program}.png`);
      const answered = await tools.run(program, args(file), limit);
      signal.throwIfAborted();
      const bytes = answered && (await read(file));
      const facts = bytes && pngFacts(bytes);
      if (bytes && facts) return { ...facts, bytes, program };
    }
  } finally {
    await removeFolder(folder);
  }
  throw none(`none of ${usable.map(({ program }) => program).join(', ')} took a picture`);
}

/** With whatever a program left in it. A folder that cannot be removed is no reason to lose the picture. */
async function removeFolder(folder: string): Promise<void> {
  try {
    for (const name of await readdir(folder)) await removeFile(join(folder, name));
    await rmdir(folder);
  } catch {}
}

async function read(file: string): Promise<Uint8Array | undefined> {
  try {
    return (await stat(file)).size > largestFile ? undefined : await readFile(file);
  } catch {
    return undefined;
  }
}

const whyNone = ({ platform }: SystemTools): string =>
  platform === 'win32'
    ? 'there is no program for it on Windows'
    : 'there is no display (neither WAYLAND_DISPLAY nor DISPLAY is set)';

const none = (why: string): FairleadError =>
  new FairleadError('unsupported', `The desktop cannot be captured: ${why}.`, {
    hint: 'Leave os out: a picture of the sessions needs no display.',
  });
