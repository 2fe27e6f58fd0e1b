import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
};

test('the package holds the bundle, its licences and its assets, and no sources', () => {
  const listed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts', '--no-update-notifier'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [{ files }] = JSON.parse(listed) as [{ files: { path: string }[] }];
  const paths = files.map(({ path }) => path);
  expect(paths).toEqual(
    expect.arrayContaining([
      'bin/fairlead.js',
      'dist/bundle/main.js',
      'dist/bundle/LICENSES.txt',
      'dist/web/index.html',
      'dist/web/LICENSES.txt',
      'dist/sbom.json',
      'SECURITY.md',
      'assets/shell-integration/bash.bash',
    ]),
  );
  expect(
    paths.filter((path) => /^(src|test|bench|scripts)\/|^dist\/(?!bundle\/|web\/|sbom\.json$)|\.ts$/.test(path)),
  ).toEqual([]);
});

test('what the bundle imports is installed with it', () => {
  const folder = join(root, 'dist', 'bundle');
  const imported = readdirSync(folder)
    .filter((name) => name.endsWith('.js'))
    .flatMap((name) => [
      ...readFileSync(join(folder, name), 'utf8').matchAll(/^(?:import|export) [^;]*?from ["']([^."'][^"']*)["'];$/gm),
    ])
    .map(([, name = '']) => name)
    .filter((name) => !name.startsWith('node:') && !builtinModules.includes(name));
  const known = Object.keys({ ...dependencies, ...optionalDependencies });
  expect(imported.filter((name) => !known.some((one) => name === one || name.startsWith(`${one}/`)))).toEqual([]);
});
