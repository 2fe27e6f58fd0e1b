import { existsSync } from 'node:fs';

/** Where the package lies, however the build has arranged its code: the folder with package.json above this file. */
export const packageRoot: URL = find(new URL('.', import.meta.url));

function find(folder: URL): URL {
  const above = new URL('..', folder);
  if (existsSync(new URL('package.json', folder)) || above.href === folder.href) return folder;
  return find(above);
}
