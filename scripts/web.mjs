// Builds the dashboard into dist/web, with every file compressed beside it: the server compresses nothing.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'vite';
import { root } from './lib.mjs';

const out = join(root, 'dist', 'web');
const stamp = join(out, '.sources');
const smallest = 512;
const inside = ['svelte', '@xterm/xterm', '@fontsource-variable/geist', '@fontsource-variable/geist-mono'];

/** What the build depends on: a build of the same sources is not made again. */
function sources() {
  const hash = createHash('sha256');
  for (const folder of [join(root, 'web'), join(root, 'src', 'contract')]) {
    for (const file of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (!file.isFile()) continue;
      const path = join(file.parentPath, file.name);
      hash.update(path.slice(root.length)).update(readFileSync(path));
    }
  }
  return hash.update(readFileSync(join(root, 'package-lock.json'))).digest('hex');
}

/** Of the packages whose code or fonts are inside these files. */
function licences() {
  const texts = inside.map((name) => {
    const folder = join(root, 'node_modules', name);
    const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const file = ['LICENSE', 'LICENSE.md', 'LICENSE.txt'].map((one) => join(folder, one)).find(existsSync);
    return `${name} ${version} (${license})\n\n${file ? readFileSync(file, 'utf8') : ''}`;
  });
  return `Parts of other packages are inside these files.\n\n${texts.join(`\n${'-'.repeat(80)}\n\n`)}`;
}

const wanted = sources();
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted) {
  await build({ configFile: join(root, 'web', 'vite.config.ts'), logLevel: 'warn' });
  for (const file of readdirSync(out, { recursive: true, withFileTypes: true })) {
    const path = join(file.parentPath, file.name);
    if (!file.isFile() || /\.(woff2|png|br|gz)$/.test(file.name)) continue;
    const bytes = readFileSync(path);
    if (bytes.length < smallest) continue;
    writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
    writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }));
  }
  writeFileSync(join(out, 'LICENSES.txt'), licences());
  writeFileSync(stamp, wanted);
}
