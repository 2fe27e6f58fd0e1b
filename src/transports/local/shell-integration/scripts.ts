import { randomBytes } from 'node:crypto';
import { chmodSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeDirectorySync } from '../../../system/files/directories.ts';
import { shippedScripts } from '../../shell-integration/assets.ts';
import { removeFileSync } from '../../../system/files/remove-file.ts';

const verified = new Set<string>();

/** The folder that holds this version of the scripts, written if it is missing or was changed. */
export function installScripts(root: string): string {
  const { version, files } = shippedScripts();
  const folder = join(root, 'shell-integration', version);
  for (const [name, content] of files) {
    const path = join(folder, name);
    if (!sameContent(path, content, verified.has(path))) writeAtomically(path, content);
    verified.add(path);
  }
  return folder;
}

/** Once read and compared, the size is enough to notice a file that is gone or cut short. */
function sameContent(path: string, content: Buffer, sizeOnly: boolean): boolean {
  try {
    return sizeOnly ? statSync(path).size === content.length : readFileSync(path).equals(content);
  } catch {
    return false;
  }
}

function writeAtomically(path: string, content: Buffer): void {
  makeDirectorySync(dirname(path), 0o755);
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    writeFileSync(draft, content, { mode: 0o644, flag: 'wx' });
    chmodSync(draft, 0o644);
    renameSync(draft, path);
  } catch (thrown) {
    removeFileSync(draft);
    throw thrown;
  }
}
