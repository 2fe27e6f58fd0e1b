import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { remoteError } from '../../../contract/remote-errors.ts';
import { expandHome } from '../login/keys.ts';

export type ConfigNode =
  | { readonly kind: 'option'; readonly keyword: string; readonly args: readonly string[]; readonly rest: string }
  | { readonly kind: 'host'; readonly patterns: readonly string[] }
  | { readonly kind: 'match'; readonly criteria: readonly string[] }
  | { readonly kind: 'include'; readonly nodes: readonly ConfigNode[] };

export interface ConfigTree {
  readonly nodes: readonly ConfigNode[];
  /** Every file and folder that was looked at, and how it looked: the same again means the same tree. */
  readonly stamps: ReadonlyMap<string, string>;
}

/** As deep as OpenSSH follows includes. */
const maxDepth = 16;
const maxBytes = 4 << 20;

/** The user's config, then the system's, with everything they include. A missing file is an empty one. */
export async function readConfig(home: string, systemFolder: string): Promise<ConfigTree> {
  const stamps = new Map<string, string>();
  const user = join(home, '.ssh');
  const nodes = [
    ...(await readOne(join(user, 'config'), { home, base: user, stamps, own: true }, 0)),
    // Each file starts with no block open.
    { kind: 'host', patterns: ['*'] } as const,
    ...(await readOne(join(systemFolder, 'ssh_config'), { home, base: systemFolder, stamps, own: false }, 0)),
  ];
  return { nodes, stamps };
}

export async function unchanged({ stamps }: ConfigTree): Promise<boolean> {
  const now = await Promise.all([...stamps.keys()].map(stampOf));
  return [...stamps.values()].every((stamp, index) => stamp === now[index]);
}

interface Reading {
  readonly home: string;
  /** Where relative includes are looked for. */
  readonly base: string;
  readonly stamps: Map<string, string>;
  /** A config of the user: others must not be able to write it. */
  readonly own: boolean;
}

async function readOne(path: string, reading: Reading, depth: number): Promise<ConfigNode[]> {
  reading.stamps.set(path, await stampOf(path));
  const text = await readText(path, reading.own);
  const nodes: ConfigNode[] = [];
  for (const line of text.split(/\r?\n/)) {
    const words = splitLine(line);
    if (words === undefined) continue;
    const { keyword, args, rest } = words;
    if (keyword === 'host') nodes.push({ kind: 'host', patterns: args });
    else if (keyword === 'match') nodes.push({ kind: 'match', criteria: args });
    else if (keyword === 'include') {
      if (depth >= maxDepth) throw broken(path, 'too many nested includes');
      nodes.push({ kind: 'include', nodes: await readIncluded(args, reading, depth + 1) });
    } else nodes.push({ kind: 'option', keyword, args, rest });
  }
  return nodes;
}

async function readIncluded(patterns: readonly string[], reading: Reading, depth: number): Promise<ConfigNode[]> {
  const nodes: ConfigNode[] = [];
  for (const pattern of patterns) {
    const expanded = expandHome(pattern, reading.home);
    const path = isAbsolute(expanded) ? expanded : join(reading.base, expanded);
    for (const file of await glob(path, reading.stamps)) {
      // Wrapped, so that a block opened in one file ends with it.
      nodes.push({ kind: 'include', nodes: await readOne(file, reading, depth) });
    }
  }
  return nodes;
}

async function readText(path: string, own: boolean): Promise<string> {
  try {
    const facts = await stat(path);
    if (!facts.isFile()) return '';
    if (facts.size > maxBytes) throw broken(path, 'it is too large');
    const uid = process.getuid?.();
    if (own && uid !== undefined && ((facts.uid !== 0 && facts.uid !== uid) || (facts.mode & 0o022) !== 0)) {
      throw broken(path, 'others may write it (bad owner or permissions)');
    }
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== undefined && 'syscall' in (error as object)) return '';
    throw error;
  }
}

/** `Keyword args`, `Keyword=args`, with double quotes and comments; undefined for an empty line. */
function splitLine(line: string): { keyword: string; args: string[]; rest: string } | undefined {
  const found = /^\s*([^\s=#"]+)(?:\s*=\s*|\s+|$)(.*)$/s.exec(line);
  if (found === null) return undefined;
  const [, keyword = '', rest = ''] = found;
  const args: string[] = [];
  for (const [word, quoted] of rest.matchAll(/"((?:[^"\\]|\\.)*)"|(?:[^\s"\\]|\\.)+/g)) {
    if (quoted === undefined && word.startsWith('#')) break;
    args.push((quoted ?? word).replaceAll(/\\(["'\\ ])/g, '$1'));
  }
  return { keyword: keyword.toLowerCase(), args, rest: rest.trim() };
}

async function glob(pattern: string, stamps: Map<string, string>): Promise<string[]> {
  let found = [pattern.startsWith('/') ? '/' : ''];
  for (const part of pattern.split('/').filter((piece) => piece !== '')) {
    if (!/[*?[]/.test(part)) {
      found = found.map((folder) => join(folder, part));
      continue;
    }
    const matches = segment(part);
    const next: string[] = [];
    for (const folder of found) {
      stamps.set(folder, await stampOf(folder));
      const names = await readdir(folder).catch(() => [] as string[]);
      next.push(
        ...names
          .filter(matches)
          .toSorted()
          .map((name) => join(folder, name)),
      );
    }
    found = next;
  }
  return found;
}

function segment(pattern: string): (name: string) => boolean {
  const source = pattern
    .replaceAll(/[.+^${}()|\\]/g, String.raw`\$&`)
    .replaceAll('*', '.*')
    .replaceAll('?', '.')
    .replaceAll('[!', '[^');
  let regex: RegExp;
  try {
    regex = new RegExp(`^${source}$`, 's');
  } catch {
    return (name) => name === pattern;
  }
  return (name) => (!name.startsWith('.') || pattern.startsWith('.')) && regex.test(name);
}

const stampOf = (path: string): Promise<string> =>
  stat(path, { bigint: true }).then(
    ({ mtimeNs, size, ino, mode, uid }) => [mtimeNs, size, ino, mode, uid].join(' '),
    () => 'absent',
  );

/** Where it stands in the tree of files, for messages. */
export const broken = (path: string, why: string) =>
  remoteError('CONNECTION_FAILED', `The SSH config ${path} cannot be used: ${why}.`, {
    data: { configFolder: dirname(path) },
  });
