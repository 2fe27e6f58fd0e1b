// What is in the pictures: a small shop in a git repository, and agents that work on it.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const files = {
  '.bashrc': `PS1='\\[\\e[32m\\]ada@atlas\\[\\e[0m\\]:\\[\\e[34m\\]\\w\\[\\e[0m\\]$ '\nalias ls='ls --color=auto'\nexport GIT_PAGER=cat NO_UPDATE_NOTIFIER=1\n`,
  '.gitconfig':
    '[user]\n  name = Ada\n  email = ada@example.com\n[init]\n  defaultBranch = main\n[color]\n  ui = always\n',
  '.vimrc': 'syntax on\nset number laststatus=2 background=dark\n',
  '.ssh/config':
    'Host db-1\n  HostName db-1.example.com\n  User deploy\n\nHost edge-2\n  HostName edge-2.example.com\n  User deploy\n',
  'bin/sudo': `#!/bin/bash
read -rsp '[sudo] password for ada: ' secret; echo
case "$*" in *restart*) echo 'shop-api.service: started, 2 workers ready';; *) echo "$*";; esac
`,
  'shop/package.json': `${JSON.stringify({ name: 'shop', version: '4.2.0', type: 'module', scripts: { build: 'node build.mjs', test: 'node --test', lint: 'node --check src/*.js && echo "3 files, no problems"' } }, undefined, 2)}\n`,
  'shop/src/cart.js': `export const total = (items) => items.reduce((sum, { price, count }) => sum + price * count, 0);\n`,
  'shop/src/tax.js': `export const withTax = (sum, rate) => Math.floor(sum * (1 + rate));\n`,
  'shop/src/server.js': `import { createServer } from 'node:http';
const paths = ['/healthz', '/v1/orders', '/v1/cart', '/v1/products?page=2', '/v1/orders/1841'];
const server = createServer((request, answer) => {
  const at = performance.now();
  answer.statusCode = request.url === '/v1/orders/1841' ? 404 : 200;
  answer.end('{}');
  const color = answer.statusCode === 200 ? 32 : 31;
  const time = new Date().toISOString().slice(11, 19);
  console.log(\`\${time} \\x1b[\${color}m\${answer.statusCode}\\x1b[0m GET \${request.url} \${(performance.now() - at).toFixed(1)} ms\`);
});
server.listen(0, '127.0.0.1', () => {
  console.log('shop listens, 2 workers');
  let next = 0;
  const ask = () => fetch(\`http://127.0.0.1:\${server.address().port}\${paths[next++ % paths.length]}\`);
  for (let i = 0; i < 12; i++) ask();
  setInterval(ask, 4000);
});
`,
  'shop/test/cart.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { total } from '../src/cart.js';
test('an empty cart costs nothing', () => assert.equal(total([]), 0));
test('counts multiply', () => assert.equal(total([{ price: 250, count: 3 }]), 750));
`,
  'shop/test/tax.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withTax } from '../src/tax.js';
test('tax is rounded to the nearest cent', () => assert.equal(withTax(1999, 0.19), 2379));
`,
  'shop/build.mjs': `import { readFileSync, readdirSync, writeFileSync, mkdirSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
mkdirSync('dist', { recursive: true });
console.log('\\x1b[36mbuild\\x1b[0m shop 4.2.0');
for (const name of readdirSync('src')) {
  const text = readFileSync('src/' + name);
  writeFileSync('dist/' + name, text);
  console.log(\`\\x1b[32m✓\\x1b[0m dist/\${name.padEnd(10)} \\x1b[90m\${text.length} B, \${gzipSync(text).length} B gzip\\x1b[0m\`);
}
if (process.argv[2] === '--watch') {
  console.log('watching src for changes…');
  setInterval(() => {}, 1000);
}
`,
  'shop/migrate.sh': `#!/bin/bash
echo 'orders      18,402 rows   ok'
echo 'order_items 61,077 rows   ok'
read -rp 'Replace table customers and write? [y/N] ' answer
`,
  'shop/README.md': `# shop

A small shop: a cart, taxes, an HTTP server.

## Run it

    npm test
    npm run build
    node src/server.js

## Prices

Prices are whole cents. \`withTax\` rounds to the nearest cent.
`,
};

export function furnish(home) {
  for (const [name, text] of Object.entries(files)) {
    const file = join(home, name);
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, text, { mode: 0o600 });
  }
  for (const name of ['bin/sudo', 'shop/migrate.sh']) chmodSync(join(home, name), 0o755);
  const git = (...args) =>
    spawnSync('git', args, { cwd: join(home, 'shop'), env: { PATH: process.env.PATH, HOME: home } });
  git('init', '-q');
  writeFileSync(join(home, 'shop/.gitignore'), 'dist\n');
  git('add', '.');
  git('commit', '-qm', 'shop: cart, taxes and a server');
  writeFileSync(
    join(home, 'shop/src/tax.js'),
    files['shop/src/tax.js'].replace('withTax = (sum, rate)', 'withTax = (sum, rate = 0.19)'),
  );
}

/** A client of MCP over HTTP with a name of its own. */
export async function agent(name, { url, token }) {
  const client = new Client({ name, version: '1.0.0' }, { versionNegotiation: { mode: 'legacy' } });
  const requestInit = { headers: { Authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  const call = async (tool, input) => {
    const { structuredContent, isError, content } = await client.callTool({ name: tool, arguments: input });
    if (isError) throw new Error(`${tool}: ${JSON.stringify(content)}`);
    return structuredContent;
  };
  return {
    call,
    open: async (title, more = {}) => (await call('terminal_open', { name: title, ...more })).terminal,
    run: async (terminal, command, timeoutMs = 15_000) => await call('terminal_run', { terminal, command, timeoutMs }),
    close: () => client.close(),
  };
}

/** Nine terminals; their ids. */
export async function stage(claude, codex, shop) {
  const at = { cwd: shop, cols: 100, rows: 26 };
  const release = await claude.open('release 4.2.0', at);
  await claude.call('terminal_record', { terminal: release, action: 'start', title: 'release 4.2.0' });
  for (const command of ['git log --oneline', 'npm run build', 'npm test', 'wc -c dist/*.js', 'git status --short']) {
    await claude.run(release, command);
    await pause(1500);
  }
  await claude.call('terminal_record', { terminal: release, action: 'stop' });

  const restart = await claude.open('restart shop-api', at);
  await claude.call('terminal_record', { terminal: restart, action: 'start', title: 'restart shop-api' });
  for (const command of ['git status --short', 'git diff -U0', 'wc -l src/*.js', 'cat missing.conf'])
    await claude.run(restart, command);

  const migrate = await codex.open('migrate customers', at);
  const tests = await codex.open('shop tests', at);
  const build = await claude.open('shop build', at);
  const server = await claude.open('shop server', at);
  const notes = await codex.open('README', { ...at, argv: ['vim', 'README.md'] });
  const lint = await codex.open('lint', at);
  await codex.run(tests, 'npm test');
  await codex.run(lint, 'npm run lint');
  await claude.run(build, 'node build.mjs --watch', 1500);
  await claude.run(server, 'node src/server.js', 1500);
  await codex.run(migrate, './migrate.sh', 3000);
  return { release, restart, migrate, tests, build, server, notes, lint };
}
