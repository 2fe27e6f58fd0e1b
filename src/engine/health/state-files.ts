import { type Dirent, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isLive, parseRecord } from '../instances/record.ts';
import type { CheckResult } from './run-checks.ts';

const others = 0o077;
/** Files that let their reader use or forge something. Folders are read one level deep. */
const secrets = ['auth_token', 'server.json', 'active.json', 'audit.key', 'redaction.key', 'logins.json'];

/** Whether only this user can read the state folder, the tokens and the keys in it. */
export function stateModes(root: string, uid = process.getuid?.()): CheckResult {
  if (uid === undefined) return { severity: 'info', summary: 'This system has no file modes to check.' };
  const instances = names(join(root, 'instances')).map((name) => join('instances', name));
  const open = ['', 'instances', ...secrets, ...instances].flatMap((name) => {
    const path = join(root, name);
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (!found) return [];
    if (found.uid !== uid) return [`${path} belongs to another user`];
    return (found.mode & others) === 0 ? [] : [`${path} has mode ${(found.mode & 0o777).toString(8)}`];
  });
  if (open.length === 0) return { severity: 'ok', summary: 'Only you can read the state folder and the tokens in it.' };
  return { severity: 'crit', summary: `${open.slice(0, 5).join('; ')}.`, fix: `chmod -R go= ${quoted(root)}` };
}

/** Files of instances that are gone, or that cannot be read. */
export function staleInstances(root: string): CheckResult {
  const folder = join(root, 'instances');
  const all = names(folder).filter((name) => name.endsWith('.json'));
  const stale = all.filter((name) => {
    const text = readFileSync(join(folder, name), 'utf8');
    // A name that is being claimed has no record yet.
    if (text.trim() === '{}') return Date.now() - lstatSync(join(folder, name)).mtimeMs > 60_000;
    const record = parseRecord(text);
    return record === undefined || !isLive(record);
  });
  const files = `${all.length} ${all.length === 1 ? 'instance' : 'instances'}`;
  if (stale.length === 0) return { severity: 'ok', summary: `${files}, each of a running server.` };
  return {
    severity: 'warn',
    summary: `No server runs for ${stale.slice(0, 5).join(', ')}.`,
    fix: `rm ${stale.map((name) => quoted(join(folder, name))).join(' ')}`,
  };
}

const mostFiles = 50_000;

/** Bytes and number of the files below a folder; a folder that does not exist has none. */
export async function folderSize(
  folder: string,
  signal: AbortSignal,
): Promise<{ readonly bytes: number; readonly files: number; readonly isCut: boolean }> {
  let [bytes, files] = [0, 0];
  const waiting = [folder];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const entries = await readdir(next, { withFileTypes: true }).catch((): Dirent[] => []);
    for (const entry of entries) {
      signal.throwIfAborted();
      const path = join(next, entry.name);
      if (entry.isDirectory()) waiting.push(path);
      if (!entry.isFile()) continue;
      files += 1;
      bytes += (await stat(path).catch(() => undefined))?.size ?? 0;
      if (files >= mostFiles) return { bytes, files, isCut: true };
    }
  }
  return { bytes, files, isCut: false };
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** For a shell. */
const quoted = (path: string): string => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`);
