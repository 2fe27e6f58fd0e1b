import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';

/** Who may import whom. This table is the architecture document. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  lib: ['lib'],
  contract: ['contract', 'lib'],
  engine: ['engine', 'contract', 'lib'],
  transports: ['transports', 'engine', 'contract', 'lib'],
  operations: ['operations', 'transports', 'engine', 'contract', 'lib'],
  faces: ['faces', 'operations', 'engine', 'contract', 'lib'],
};

/** Each dependency is imported in one folder; zod describes shapes everywhere. */
const homes: Readonly<Record<string, string>> = {
  koffi: 'transports/local',
  '@lydell/node-pty': 'transports/local',
  ssh2: 'transports/ssh',
  '@xterm/headless': 'engine/screen',
  '@xterm/addon-unicode11': 'engine/screen',
  '@napi-rs/canvas': 'engine/picture',
  re2js: 'engine/wait',
  '@modelcontextprotocol/server': 'faces/mcp',
};

const root = join(import.meta.dirname, '..', 'src');
const imports = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  .flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/(?:\bfrom |\bimport\(|^import )'([^']+)'/gm)].map(
      ([, to = '']) => ({ file, to }),
    ),
  );

test('imports point one way', () => {
  const wrong = imports.filter(({ file, to }) => {
    const [layer = ''] = file.split('/');
    const target = relative(root, join(root, dirname(file), to)).split('/')[0] ?? '';
    return to.startsWith('.') && layer in mayImport && !mayImport[layer]?.includes(target);
  });
  expect(wrong).toEqual([]);
});

test('directories are made by system/files/directories.ts: Node’s own recursive mkdir never returns on /proc', () => {
  const makers = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .filter((file) => /mkdir(Sync)?\([^;]*recursive/.test(readFileSync(join(root, file), 'utf8')));
  expect(makers).toEqual([]);
});

test('files are removed by system/files/remove-file.ts: Node’s own rm can empty the directory behind a link', () => {
  const removers = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .filter((file) => /(?<![\w.#])rm(Sync)?\(/.test(readFileSync(join(root, file), 'utf8')));
  expect(removers).toEqual([join('engine', 'trusted-path.ts')]);
});

test('each dependency is imported in one folder', () => {
  const packages = imports.filter(({ to }) => !/^(\.|node:|zod$)/.test(to));
  expect(packages.length).toBeGreaterThan(5);
  const name = (to: string): string =>
    to
      .split('/')
      .slice(0, to.startsWith('@') ? 2 : 1)
      .join('/');
  expect(packages.filter(({ file, to }) => !file.startsWith(`${homes[name(to)]}/`))).toEqual([]);
});
