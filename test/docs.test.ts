import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Tiktoken } from 'js-tiktoken/lite';
import o200k from 'js-tiktoken/ranks/o200k_base';
import { expect, test } from 'vitest';
import { commands } from '../src/commands/index.ts';
import { verbs } from '../src/commands/drive/verbs.ts';
import { foldBooks } from '../src/faces/mcp/tools.ts';
import { usualBooks } from '../src/operations/index.ts';
import { referencePages } from '../src/reference.ts';
import { sshVariables } from '../src/ssh-settings.ts';
import { surfaceFiles } from '../src/surface.ts';

const folder = join(import.meta.dirname, '..', 'docs', 'reference');

test('docs/reference is what the catalogue says (npm run docs)', async () => {
  const written = Object.fromEntries(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  );
  expect(written).toEqual(await referencePages());
});

test('test/surface is what each operation offers its clients (npm run docs)', async () => {
  const encoding = new Tiktoken(o200k);
  const surface = join(import.meta.dirname, 'surface');
  const written = Object.fromEntries(
    readdirSync(surface, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.json'))
      .map((name) => [name, readFileSync(join(surface, name), 'utf8')]),
  );
  expect(written).toEqual(await surfaceFiles((text) => encoding.encode(text).length));
});

const home = join(import.meta.dirname, '..');
const below = (folder: string, ending: string): string[] =>
  readdirSync(join(home, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name));
const text = (file: string): string => readFileSync(join(home, file), 'utf8');

test('every requirement that is cited can be looked up in docs/requirements, once', () => {
  const pages = below('docs/requirements', '.md').map(text);
  const stated = pages.flatMap((page) => [...page.matchAll(/^- \*\*(R-[A-Z]+-\d+)\*\*/gm)].map(([, number]) => number));
  expect(stated.filter((number, at) => stated.indexOf(number) !== at)).toEqual([]);
  const files = [...below('src', '.ts'), ...below('test', '.ts'), ...below('docs', '.md')];
  const cited = files.flatMap((file) =>
    [...text(file).matchAll(/\bR-[A-Z]+-\d+/g)].map(([number]) => ({ file, number })),
  );
  expect(cited.length).toBeGreaterThan(300);
  expect(cited.filter(({ number }) => !stated.includes(number))).toEqual([]);
});

test('every row of section 10 that a test of SSH cites is there', () => {
  const rows = [...text('docs/requirements/remote.md').matchAll(/^\| (10\.\d+) \|/gm)].map(([, row]) => row);
  const tests = ['src', 'test']
    .flatMap((folder) => below(folder, '.test.ts'))
    .filter((file) => /remote|ssh/.test(file));
  const cited = tests.flatMap((file) => [...text(file).matchAll(/\((10\.\d+)\)/g)].map(([, row]) => row));
  expect(cited.length).toBeGreaterThan(10);
  expect(cited.filter((row) => !rows.includes(row))).toEqual([]);
});

test('every path that the architecture page and CONTRIBUTING name exists', () => {
  const named = ['docs/architecture.md', 'CONTRIBUTING.md'].flatMap((page) =>
    [...text(page).matchAll(/`((?:src|test|docs|bench|scripts|assets)\/[\w./-]*)`/g)].map(([, path = '']) => path),
  );
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter((path) => !existsSync(join(home, path)))).toEqual([]);
});

test('the glossary has at most forty-five words, one line each', () => {
  const words = [...text('docs/glossary.md').matchAll(/^\| ([a-z][\w -]*) \| .+ \|$/gm)].map(([, word]) => word);
  expect(words.length).toBeGreaterThan(20);
  expect(words.length).toBeLessThanOrEqual(45);
  expect(new Set(words).size).toBe(words.length);
});

/** A verb may have two words: `record start`. */
const isVerb = (noun: string, verb: string, second: string | undefined): boolean =>
  [verb, `${verb} ${second}`].some((name) => verbs.get(noun)?.has(name) === true);

test('every command that the documents and our own texts advise exists', () => {
  const words = [...commands.flatMap(({ name, otherName = name }) => [name, otherName]), ...verbs.keys()];
  const files = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...below('docs/guide', '.md'), ...below('src', '.ts')];
  const wrong = files.flatMap((file) =>
    [...text(file).matchAll(/(^|[`'])?fairlead ([a-z]+)(?: ([a-z][a-z-]+))?(?: ([a-z][a-z-]+))?/gm)]
      .filter(([, quoted, word = '', verb, second]) =>
        words.includes(word)
          ? verb !== undefined && verbs.has(word) && !isVerb(word, verb, second)
          : quoted !== undefined && word !== 'help',
      )
      .map(([line]) => `${file}: ${line}`),
  );
  expect(wrong).toEqual([]);
});

test('the guide to safety lists what --read-only offers', () => {
  const page = readFileSync(join(folder, '..', 'guide', 'safety.md'), 'utf8');
  const [list = ''] = /--read-only` offers [^.]*\./.exec(page) ?? [];
  const { tools } = foldBooks(usualBooks, () => expect.unreachable(), { readOnly: true }).list();
  const offered = tools.map(({ name }) => name);
  expect([...list.matchAll(/`(\w+)`/g)].map(([, name]) => name)).toEqual(offered);
});

test('the guide to SSH names tools and variables that exist', () => {
  const page = readFileSync(join(folder, '..', 'guide', 'ssh.md'), 'utf8');
  const tools = usualBooks.flatMap(({ nouns }) => Object.values(nouns.ssh ?? {}).map(({ mcpName }) => mcpName));
  const variables = [...sshVariables.values()].map(({ variable }) => variable);
  const named = [...page.matchAll(/\b(ssh_[a-z_]+|SSH_[A-Z_]+)\b/g)].map(([name]) => name);
  // Answers begin with the name of their tool, and the agent's socket is everybody's.
  const known = [...tools, ...tools.map((name) => name?.toUpperCase()), ...variables];
  const others = ['ssh_known_hosts', 'SSH_AUTH_SOCK', 'SSH_HOST_KEY_POLICY'];
  expect([...new Set(named)].filter((name) => !known.includes(name)).toSorted()).toEqual(others.toSorted());
});
