// One file instead of two hundred: the first answer of `fairlead mcp` comes in half the time. Packages with binaries, and
// those that are loaded only when asked for, stay outside.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { root } from './lib.mjs';
import { putInPlace } from './put-in-place.mjs';
import { licenceOf, writeSbom } from './sbom.mjs';

const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
// A folder of its own beside the bundle in use: an interrupted build leaves a working program, and two builds do not collide.
const folder = mkdtempSync(join(root, 'dist', 'bundle-next-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const options = {
  platform: 'node',
  // ssh2 looks for compiled helpers and works without them.
  external: [/^node:/, /\.node$/, 'cpu-features', ...Object.keys({ ...dependencies, ...optionalDependencies })],
  // ssh2 is CommonJS and uses __dirname.
  transform: { define: { __dirname: 'import.meta.dirname', __filename: 'import.meta.filename' } },
  onLog: (level, log) => level === 'warn' && console.error(log.message),
};
const bundle = await rolldown({ ...options, input: join(root, 'dist', 'main.js') });
const { output } = await bundle.write({ dir: folder, format: 'esm', chunkFileNames: '[name]-[hash].js' });
// The keeper is one file: it keeps running while an upgrade replaces all others.
const keeper = await rolldown({ ...options, input: join(root, 'dist', 'keeper.js') });
const { output: kept } = await keeper.write({ file: join(folder, 'keeper.js'), format: 'esm', codeSplitting: false });

/** The folders of the packages whose code is inside. */
const packages = new Set(
  [...output, ...kept]
    .flatMap((chunk) => Object.keys(chunk.modules ?? {}))
    .map((file) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0])
    .filter((name) => name !== undefined),
);
const licences = [...packages].sort().map((name) => {
  const { name: title, version } = JSON.parse(readFileSync(join(name, 'package.json'), 'utf8'));
  const text = ['LICENSE', 'LICENSE.md', 'LICENSE.txt', 'license'].map((file) => join(name, file)).find(existsSync);
  return `${title} ${version} (${licenceOf(name)})\n\n${text ? readFileSync(text, 'utf8') : ''}`;
});
writeFileSync(
  join(folder, 'LICENSES.txt'),
  `Parts of other packages are inside these files.\n\n${licences.join(`\n${'-'.repeat(80)}\n\n`)}`,
);
writeSbom(root, [...packages].sort());
putInPlace(folder, join(root, 'dist', 'bundle'), { last: 'main.js', fresh: process.argv.includes('--fresh') });
