import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';

/** Which folder of `src`, or file in `src` itself, may import which. docs/architecture.md explains this table. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  lib: ['lib'],
  contract: ['contract', 'lib'],
  system: ['system', 'contract', 'lib'],
  engine: ['engine', 'system', 'contract', 'lib'],
  policy: ['policy', 'engine', 'system', 'contract', 'lib'],
  streams: ['streams', 'engine', 'system', 'contract', 'lib'],
  transports: ['transports', 'streams', 'engine', 'system', 'contract', 'lib'],
  operations: ['operations', 'policy', 'transports', 'streams', 'engine', 'system', 'contract', 'lib'],
  faces: ['faces', 'operations', 'engine', 'system', 'contract', 'lib'],
  commands: [
    'commands',
    'faces',
    'operations',
    'policy',
    'transports',
    'streams',
    'engine',
    'system',
    'contract',
    'lib',
    'config.ts',
    'ssh-settings.ts',
  ],
  'web-names.ts': [],
  'config.ts': ['lib', 'web-names.ts'],
  'ssh-settings.ts': ['transports', 'streams', 'engine', 'system', 'lib', 'config.ts'],
  // A small process of its own: no engine, no face.
  'keeper.ts': ['transports', 'system'],
  'main.ts': ['commands', 'faces', 'system', 'lib', 'config.ts'],
  // Only `npm run docs` uses these two.
  'reference.ts': ['operations', 'engine', 'contract', 'config.ts', 'ssh-settings.ts'],
  'surface.ts': ['operations', 'faces', 'engine'],
};

/** Which rooms of the engine (folders directly in it) a room may use, besides itself. Types may point back; what runs may not. */
const roomMayUse: Readonly<Record<string, readonly string[]>> = {
  redaction: [],
  screen: [],
  resume: [],
  call: [],
  agents: ['call', 'recording'],
  instances: ['call'],
  health: ['instances'],
  picture: ['screen'],
  shells: [],
  waiting: ['screen', 'shells'],
  proxy: ['call', 'waiting'],
  settings: ['call', 'picture'],
  input: ['shells', 'waiting'],
  person: ['screen', 'shells', 'waiting'],
  events: ['call', 'recording'],
  terminal: ['input', 'person', 'proxy', 'redaction', 'resume', 'screen', 'shells', 'waiting'],
  reading: ['redaction', 'screen', 'terminal', 'waiting'],
  recording: ['picture', 'reading', 'redaction', 'screen', 'terminal'],
  run: ['person', 'reading', 'screen', 'shells', 'terminal', 'waiting'],
  capture: ['call', 'picture', 'reading', 'screen'],
  sessions: ['call', 'input', 'instances', 'reading', 'recording', 'shells', 'terminal', 'waiting'],
};

/** Each dependency is imported in one folder; zod describes shapes everywhere. */
const homes: Readonly<Record<string, string>> = {
  koffi: 'transports/local',
  '@lydell/node-pty': 'transports/local',
  ssh2: 'transports/ssh',
  '@xterm/headless': 'engine/screen',
  '@xterm/addon-unicode11': 'engine/screen',
  '@napi-rs/canvas': 'engine/picture',
  re2js: 'engine/waiting',
  '@modelcontextprotocol/server': 'faces/mcp',
  ws: 'faces/http/live',
};

const root = join(import.meta.dirname, '..', 'src');
const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
const sources = files.filter((file) => !file.endsWith('.test.ts'));
const text = (file: string): string => readFileSync(join(root, file), 'utf8');
const imports = sources.flatMap((file) =>
  [...text(file).matchAll(/(?:\bfrom |\bimport\(|^import )'([^']+)'/gm)].map(([, to = '']) => ({ file, to })),
);
const layerOf = (file: string): string => file.split('/')[0] ?? '';

test('imports point one way', () => {
  const wrong = imports.filter(({ file, to }) => {
    const target = layerOf(relative(root, join(root, dirname(file), to)));
    return to.startsWith('.') && !mayImport[layerOf(file)]?.includes(target);
  });
  expect(wrong).toEqual([]);
});

test('rooms of the engine point one way', () => {
  const isType = /^(?:import|export) type |^import \{(?:\s*type \w+(?: as \w+)?,?)+\s*\}/;
  const roomOf = (file: string): string => (file.split('/').length > 2 ? (file.split('/')[1] ?? '') : '');
  const wrong = sources
    .filter((file) => file.startsWith('engine/') && roomOf(file) !== '')
    .flatMap((file) =>
      [...text(file).matchAll(/^(?:import|export) [^;]*?from '(\.[^']+)'/gm)]
        .filter(([line]) => !isType.test(line))
        .map(([, to = '']) => ({ file, to: relative(root, join(root, dirname(file), to)) })),
    )
    .filter(({ file, to }) => to.startsWith('engine/') && roomOf(to) !== roomOf(file))
    .filter(({ file, to }) => !roomMayUse[roomOf(file)]?.includes(roomOf(to)));
  expect(wrong).toEqual([]);
});

test('MCP is one route of the HTTP server: the two share nothing but the type of a route', () => {
  const between = sources
    .filter((file) => /^faces\/(mcp|http|ask-page)\//.test(file))
    .flatMap((file) =>
      [...text(file).matchAll(/^import (type )?[^;]*?from '(\.[^']+)'/gm)].map(([, type, to = '']) => ({
        from: file.split('/')[1],
        to: relative(root, join(root, dirname(file), to)),
        isType: type !== undefined,
      })),
    );
  expect(between.filter(({ from, to }) => from === 'http' && /^faces\/(mcp|ask-page)\//.test(to))).toEqual([]);
  const used = between.filter(({ from, to }) => from === 'mcp' && /^faces\/(http|ask-page)\//.test(to));
  expect(new Set(used.map(({ to, isType }) => `${to} ${isType}`))).toEqual(new Set(['faces/http/route.ts true']));
});

test('an exported name is declared once; operations are named after their place', () => {
  const declared = sources.flatMap((file) =>
    [...text(file).matchAll(/^export (?:abstract |async )*(?:class|interface|type|const|function\*?) +(\w+)/gm)].map(
      ([, name = '']) => ({ name, file, isVerb: file.startsWith('operations/') && /^[a-z]/.test(name) }),
    ),
  );
  const twice = declared.filter(({ name, file, isVerb }) =>
    declared.some((other) => other.name === name && other.file !== file && !(isVerb && other.isVerb)),
  );
  expect(twice).toEqual([]);
});

test('a folder holds at most 25 files, and engine/ only engine.ts and rooms', () => {
  const crowded = [...new Set(files.map((file) => dirname(file)))].filter(
    (folder) => files.filter((file) => dirname(file) === folder).length > 25,
  );
  expect(crowded).toEqual([]);
  expect(sources.filter((file) => dirname(file) === 'engine')).toEqual(['engine/engine.ts']);
});

test('how long a program may be silent stands in one table', () => {
  const rooms = /^engine\/(?:input|run|shells|terminal|waiting|person\/prompts)\//;
  const own = sources.filter((file) => rooms.test(file) && /\bconst \w*Ms = [\d[{]/.test(text(file)));
  expect(own).toEqual([]);
});

/** Files that may name a shell, and why. */
const nameShells: Readonly<Record<string, string>> = {
  'engine/shells/': 'the table of their traits, and the languages they speak',
  'transports/local/shell-integration/': 'one script for each kind of integration',
  'transports/ssh/open/integration.ts': 'the same at a far side',
  'engine/capture/system-clipboard.ts': 'the clipboard of Windows is read by PowerShell',
  'policy/': 'reads command lines, with a table of programs of its own',
  'commands/index.ts': 'the languages of completion scripts',
  'engine/call/argument-names.ts': 'names of arguments',
  'operations/session/server.ts': 'starts Windows consoles as administrator',
  'operations/session/selftest.ts': 'a program to start',
  'transports/local/pty/libc.ts': 'a program to start',
};

test('what a shell can do is asked of its traits, never by its name', () => {
  const shell = /'(?:bash|rbash|zsh|fish|sh|dash|ash|busybox|ksh\d*|mksh|yash|t?csh|pwsh|powershell|nu|elvish|xonsh)'/;
  const naming = sources.filter((file) => shell.test(text(file)));
  expect(naming.filter((file) => !Object.keys(nameShells).some((place) => file.startsWith(place)))).toEqual([]);
  expect(Object.keys(nameShells).filter((place) => !naming.some((file) => file.startsWith(place)))).toEqual([]);
});

test('directories are made by system/files/directories.ts: Node’s own recursive mkdir never returns on /proc', () => {
  const makers = sources.filter((file) => /mkdir(Sync)?\([^;]*recursive/.test(text(file)));
  expect(makers).toEqual([]);
});

test('a time limit is a timeLimit: Node 20 forgets a timeout that only AbortSignal.any knows', () => {
  const forgetful = sources.filter((file) => /AbortSignal\.any\([^;]*AbortSignal\.timeout/.test(text(file)));
  expect(forgetful.filter((file) => file !== 'system/time-limit.ts')).toEqual([]);
});

test('programs that a call waits for run in system/run-program.ts: Node signals process 0 in place of one that is not there', () => {
  expect(sources.filter((file) => /\bexecFile\b/.test(text(file)))).toEqual([join('system', 'run-program.ts')]);
});

test('files are removed by system/files/remove-file.ts: Node’s own rm can empty the directory behind a link', () => {
  const removers = sources.filter((file) => /(?<![\w.#])rm(Sync)?\(/.test(text(file)));
  expect(removers).toEqual([join('system', 'files', 'trusted-path.ts')]);
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

test('a terminal is slim: its parts are organs, and nothing is kept beside it in a map', () => {
  const mapped = sources.filter((file) => /Weak(?:Map|Set)<\s*Terminal\b/.test(text(file)));
  expect(mapped).toEqual([]);
  const terminal = text('engine/terminal/terminal.ts');
  const members = terminal.matchAll(
    /^ {2}(?:readonly |get |set |async |static |\*)*((?:\w+|\[Symbol\.\w+\]))(?=[(:<!?]| =)/gm,
  );
  const names = [...members].map(([, name]) => name).filter((name) => name !== 'constructor');
  expect(names).toContain('follow');
  expect(new Set(names).size).toBeLessThanOrEqual(25);
  expect(terminal.split('\n').length).toBeLessThanOrEqual(250);
});

test('the dashboard makes no HTML of texts and sets no style attribute: its policy forbids both', () => {
  const web = join(root, '..', 'web', 'src');
  const pages = readdirSync(web, { recursive: true, encoding: 'utf8' }).filter((file) => /\.(?:svelte|ts)$/.test(file));
  expect(pages.length).toBeGreaterThan(50);
  const forbidden =
    /\{@html\b|\b(?:inner|outer)HTML\b|insertAdjacentHTML|document\.write\b|\beval\(|new Function\b|\bsrcdoc\b|<[^>]*\sstyle=|\sstyle:[\w-]+=|setAttribute\('style'/;
  const found = pages.filter((file) => forbidden.test(readFileSync(join(web, file), 'utf8')));
  expect(found).toEqual([]);
});
