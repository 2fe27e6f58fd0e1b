import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageRoot } from '../../system/package-root.ts';

const names = ['bash.bash', 'zsh/.zshenv', 'zsh/hooks.zsh', 'fish/vendor_conf.d/fairlead.fish', 'sh.sh'] as const;
export type ScriptName = (typeof names)[number];

export interface Scripts {
  /** Named after the content: two installed versions never fight over one folder. */
  readonly version: string;
  readonly files: ReadonlyMap<ScriptName, Buffer>;
}

let loaded: Scripts | undefined;

/** The scripts as they are shipped, read once. */
export function shippedScripts(): Scripts {
  loaded ??= load();
  return loaded;
}

function load(): Scripts {
  const assets = fileURLToPath(new URL('assets/shell-integration/', packageRoot));
  const files = new Map<ScriptName, Buffer>();
  const hash = createHash('sha256');
  for (const name of names) {
    const content = readFileSync(join(assets, name));
    files.set(name, content);
    hash.update(`${name}\0${content.length}\0`).update(content);
  }
  return { version: hash.digest('hex').slice(0, 12), files };
}
