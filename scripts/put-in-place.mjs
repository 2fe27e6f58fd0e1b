import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Moves the files of a new build to where the last one is, the one that names the others last: at no moment is there no program. What
 * only the build before had stays until the next one, for a server that still runs may not have loaded all of it; `fresh`
 * leaves nothing but the new files.
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
