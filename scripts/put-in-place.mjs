import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Moves the files of a new build over the last one, the entry file last, so that there is a working program at any moment. Files that
 * only the previous build had stay until the next one, because a running server may still load them; `fresh`
 * keeps only the new files.
 */
export function putInPlace(draft, folder, { last, fresh }) {
  const list = `${folder}.json`;
  const before = fresh ? [] : namesIn(list);
  const names = readdirSync(draft).sort((a, b) => Number(a === last) - Number(b === last) || a.localeCompare(b));
  mkdirSync(folder, { recursive: true });
  for (const name of names) renameSync(join(draft, name), join(folder, name));
  // The same build again is no new generation.
  if (!fresh && names.join() === before.join()) return;
  const kept = new Set([...names, ...before]);
  // Another build may have removed it just now.
  const remove = (name) => rmSync(join(folder, name), { recursive: true, force: true });
  for (const name of readdirSync(folder)) if (!kept.has(name)) remove(name);
  writeFileSync(list, JSON.stringify(names));
}

function namesIn(list) {
  try {
    return JSON.parse(readFileSync(list, 'utf8'));
  } catch {
    return [];
  }
}
