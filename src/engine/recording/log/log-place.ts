import { lstatSync, realpathSync, statSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, join, sep } from 'node:path';
import { makeDirectory } from '../../../system/files/directories.ts';
import { type OpenPart, openPart, PartFile } from '../part-file.ts';

/** The project of a recording, null for none, and the folder name that stands for it. */
interface LogProject {
  readonly project: string | null;
  readonly slug: string;
}

export interface LogPlace extends LogProject {
  readonly file: PartFile;
  readonly log: string;
  readonly md: string;
}

export interface WantedPlace {
  /** The state root. */
  readonly root: string;
  /** The person's home: no project. */
  readonly home: string;
  readonly cwd: string | undefined;
  /** The directory is one of this machine. */
  readonly isHere: boolean;
  readonly tab: number;
  /** Milliseconds since the epoch. */
  readonly time: number;
}

const mostTries = 100;

/** Creates the first file of a recording: in the project the session works in, else below the state root. */
export async function openLog(
  wanted: WantedPlace,
  {
    open = openPart,
    extension = 'log',
  }: { readonly open?: OpenPart | undefined; readonly extension?: 'log' | 'md' } = {},
): Promise<LogPlace> {
  const { root, tab, time } = wanted;
  const [day = '', clock = ''] = new Date(time).toISOString().split(/[T.]/);
  const name = `tab-${tab}-${clock.replaceAll(':', '')}`;
  const found = logProject(wanted);
  const inProject = found.project === null ? undefined : await projectFolder(found.project, day);
  if (inProject !== undefined) {
    const made = await create(inProject, name, extension, open).catch(() => undefined);
    if (made) return { ...made, ...found };
  }
  const folder = join(root, 'sessions', found.slug, day);
  await makeDirectory(folder, 0o700);
  return { ...(await create(folder, name, extension, open)), ...found };
}

export function logProject(wanted: WantedPlace): LogProject {
  const project = projectOf(wanted);
  return { project: project ?? null, slug: project === undefined && wanted.isHere ? '_orphan' : slugOf(wanted.cwd) };
}

/** Letters, digits, `-_.`; never a name that means another folder. */
function slugOf(cwd: string | undefined): string {
  const slug = basename(cwd ?? '').replaceAll(/[^\p{L}\p{N}_.-]/gu, '-');
  return /^\.*$/.test(slug) || slug === '.entries' ? '_orphan' : slug.slice(0, 100);
}

/** The directory a session works in, unless that is the home, the root of the file system or our own state. */
function projectOf({ root, home, cwd, isHere }: WantedPlace): string | undefined {
  if (cwd === undefined || !isHere) return undefined;
  const [real, ...others] = [cwd, home, '/', root].map(realPath);
  if (real === undefined || others.includes(real)) return undefined;
  return real.startsWith(`${realPath(root)}${sep}`) ? undefined : cwd;
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/** Undefined where nothing can be written, or what stands there is not this user's own. */
async function projectFolder(project: string, day: string): Promise<string | undefined> {
  try {
    // Every user may write to a shared directory such as /tmp: it is not the project of this one.
    if ((statSync(project).mode & 0o002) !== 0) return undefined;
    let folder = project;
    for (const part of ['.fairlead', 'sessions', day]) {
      folder = join(folder, part);
      await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error;
      });
      // A repository may bring a link that leads elsewhere, another user a folder of their own.
      if (!isOurs(folder)) return undefined;
      if (part === '.fairlead') await ignoreAll(join(folder, '.gitignore'));
    }
    return folder;
  } catch {
    return undefined;
  }
}

function isOurs(folder: string): boolean {
  const found = lstatSync(folder);
  if (!found.isDirectory() || (found.mode & 0o022) !== 0) return false;
  return process.getuid === undefined || found.uid === process.getuid();
}

/** One that is there is the person's own. */
async function ignoreAll(path: string): Promise<void> {
  await writeFile(path, '*\n', { flag: 'wx', mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}

async function create(
  folder: string,
  name: string,
  extension: string,
  open: OpenPart,
): Promise<Pick<LogPlace, 'file' | 'log' | 'md'>> {
  for (let tries = 1; tries <= mostTries; tries++) {
    const path = join(folder, tries === 1 ? name : `${name}-${tries}`);
    try {
      return { file: new PartFile(await open(`${path}.${extension}`)), log: `${path}.log`, md: `${path}.md` };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  throw new Error(`Every name for another log in ${folder} is taken.`);
}
