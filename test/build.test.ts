import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const clone = mkdtempSync(join(tmpdir(), 'fairlead-clone-'));
for (const part of ['bin', 'scripts', 'package.json', 'package-lock.json'])
  cpSync(join(root, part), join(clone, part), { recursive: true });
symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'));
mkdirSync(join(clone, 'dist'));
afterAll(() => rmSync(clone, { recursive: true, force: true }));

const node = (...args: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: clone, encoding: 'utf8' });
  return { status, stdout, stderr };
};
const program = () => node(join('bin', 'fairlead.js'), 'mcp');

/** A program of two pieces, the second loaded when asked for, as ours are. */
function write(word: string) {
  writeFileSync(join(clone, 'dist', 'late.js'), `export const word = ${word};\n`);
  writeFileSync(join(clone, 'dist', 'main.js'), "console.log((await import('./late.js')).word);\n");
  writeFileSync(join(clone, 'dist', 'keeper.js'), 'export {};\n');
}
function bundle(word: string, ...args: readonly string[]) {
  write(word);
  return node(join('scripts', 'bundle.mjs'), ...args).status;
}
/** What builds leave behind besides the program. */
const drafts = () => readdirSync(join(clone, 'dist')).filter((name) => name.startsWith('bundle-'));
const pieces = () => readdirSync(join(clone, 'dist', 'bundle')).filter((name) => name.startsWith('late-'));

test('before the first build the program says in one line what to do', () => {
  expect(program()).toEqual({
    status: 1,
    stdout: '',
    stderr: `fairlead is not built yet. Run once: npm start, or npm run build, in ${clone}/\n`,
  });
});

test('a build that does not come to its end leaves the program as it was', () => {
  expect(bundle('"first"')).toBe(0);
  expect(bundle('"broken')).not.toBe(0);
  expect(drafts()).toEqual([]);
  expect(program()).toMatchObject({ status: 0, stdout: 'first\n' });
});

test('a server that runs still finds the pieces it has not loaded yet, after one build and the same again', () => {
  bundle('"first"', '--fresh');
  const [first] = pieces();
  for (let times = 0; times < 2; times += 1) {
    bundle('"second"');
    expect(program().stdout).toBe('second\n');
    expect(pieces()).toContain(first);
    expect(pieces()).toHaveLength(2);
  }
  bundle('"third"');
  expect(pieces()).not.toContain(first);
  expect(pieces()).toHaveLength(2);
  bundle('"third"', '--fresh');
  expect(pieces()).toHaveLength(1);
});

test('builds at the same time do not take each other the files away', async () => {
  bundle('"before"');
  write('"together"');
  const builds = Array.from({ length: 3 }, () =>
    spawn(process.execPath, [join('scripts', 'bundle.mjs')], { cwd: clone }),
  );
  const ends = await Promise.all(builds.map(async (build) => (await once(build, 'exit'))[0] as unknown));
  expect(ends).toEqual([0, 0, 0]);
  expect(program().stdout).toBe('together\n');
  expect(drafts()).toEqual([]);
});
