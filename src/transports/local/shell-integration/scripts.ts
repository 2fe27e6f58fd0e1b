import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageRoot } from '../../../engine/package-root.ts';

const names = ['bash.bash', 'zsh/.zshenv', 'zsh/hooks.zsh', 'fish/vendor_conf.d/fairlead.fish', 'sh.sh'] as const;

interface Scripts {
  readonly version: string;
  readonly files: ReadonlyMap<string, Buffer>;
}

let loaded: Scripts | undefined;
const verified = new Set<string>();

/** The folder that holds this version of the scripts, written if it is missing or was changed. */
export function installScripts(root: string): string {
  loaded ??= load();
  const folder = join(root, 'shell-integration', loaded.version);
  for (const [name, content] of loaded.files) {
    const path = join(folder, name);
    if (!sameContent(path, content, verified.has(path))) writeAtomically(path, content);
    verified.add(path);
  }
  return folder;
}

function load(): Scripts {
  const assets = fileURLToPath(new URL('assets/shell-integration/', packageRoot));
  const files = new Map<string, Buffer>();
  const hash = createHash('sha256');
  for (const name of names) {
    const content = readFileSync(join(assets, name));
    files.set(name, content);
    hash.update(`${name}\0${content.length}\0`).update(content);
  }
  // Named after its content: two installed versions never fight over one folder.
  return { version: hash.digest('hex').slice(0, 12), files };
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
  mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    writeFileSync(draft, content, { mode: 0o644, flag: 'wx' });
    chmodSync(draft, 0o644);
    renameSync(draft, path);
  } catch (thrown) {
    rmSync(draft, { force: true });
    throw thrown;
  }
}
