// Ten tasks an agent is given every day, done twice: with the core tools, and with the seven documented ones. Counts the
// calls made and the bytes that come back into the model's context. `node bench/tasks.mjs [--json]`
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const program = join(import.meta.dirname, '..', 'bin', 'fairlead.js');
/** How long a model takes between two calls; only polling notices. */
const thinkMs = 1000;

class Agent {
  calls = 0;
  bytes = 0;
  /** The largest answer: text and structure together. */
  largest = 0;
  #waiting = new Map();
  #id = 0;

  constructor(folder) {
    this.folder = folder;
    this.child = spawn(process.execPath, [program, 'mcp', '--cwd', folder], {
      env: { ...process.env, HOME: folder, SHELL: '/bin/bash', FAIRLEAD_HOME: join(folder, '.fairlead') },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    createInterface({ input: this.child.stdout }).on('line', (line) => {
      const message = JSON.parse(line);
      this.#waiting.get(message.id)?.(message);
    });
  }

  async start() {
    await this.#request('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'tasks', version: '1' },
    });
  }

  #request(method, params) {
    const id = ++this.#id;
    const answer = new Promise((resolve) => this.#waiting.set(id, resolve));
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return answer;
  }

  async call(name, input = {}) {
    this.calls++;
    const { result } = await this.#request('tools/call', { name, arguments: input });
    const text = result.content.map((part) => part.text ?? '').join('');
    this.bytes += Buffer.byteLength(text);
    const structure = Buffer.byteLength(JSON.stringify(result.structuredContent ?? ''));
    this.largest = Math.max(this.largest, Buffer.byteLength(text) + structure);
    if (result.isError) throw new Error(`${name}: ${text}`);
    return text;
  }

  /** The seven tools: type, Enter, and read until it is there. */
  async line(text) {
    await this.call('type', { text });
    await this.call('sendKey', { key: 'Enter' });
  }

  async readUntil(wanted, input = {}) {
    for (let tries = 0; tries < 30; tries++) {
      const text = await this.call('getContent', input);
      if (wanted.test(text)) return text;
      await sleep(thinkMs);
    }
    throw new Error(`${wanted} did not come`);
  }

  async end() {
    const exit = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.stdin.end();
    await exit;
  }
}

const check = (holds, what) => {
  if (!holds) throw new Error(`The task was not done: ${what}`);
};

const tasks = [
  {
    name: 'run the tests, name the failure in 5,000 lines',
    prepare: (folder) =>
      writeFileSync(
        join(folder, 'tests.sh'),
        `for i in $(seq 1 5000); do [ $i = 2718 ] && { echo "tests/test_api.py::test_$i FAILED"; echo "E   AssertionError: 401 != 200"; } || echo "tests/test_api.py::test_$i PASSED"; done; exit 1`,
      ),
    async core(agent) {
      const run = await agent.call('terminal_run', { command: 'sh tests.sh', maxBytes: 1024 });
      check(run.startsWith('exit code 1'), 'exit code');
      const found = await agent.call('terminal_find', { pattern: 'FAILED', context: 1 }).catch(() => '');
      if (found.includes('test_2718')) return;
      const rest = /rest=(\S+)/.exec(run)?.[1];
      check(
        (await agent.call('terminal_run', { command: 'sh tests.sh | grep -A1 FAILED' })).includes('test_2718'),
        rest ?? 'failure',
      );
    },
    async classic(agent) {
      await agent.line('sh tests.sh; echo "exit: $?"');
      const text = await agent.readUntil(/^exit: 1/m);
      if (text.includes('test_2718')) return;
      await agent.line('sh tests.sh | grep -A1 FAILED');
      await agent.readUntil(/test_2718/);
    },
  },
  {
    name: 'the exit code of a command',
    async core(agent) {
      check((await agent.call('terminal_run', { command: 'test -d /nowhere' })).startsWith('exit code 1'), 'code');
    },
    async classic(agent) {
      await agent.line('test -d /nowhere; echo "exit: $?"');
      await agent.readUntil(/^exit: 1/m);
    },
  },
  {
    name: "answer an installer's three questions",
    prepare: (folder) =>
      writeFileSync(
        join(folder, 'install.sh'),
        'printf "Install to [/opt]? "; read a; sleep 1; printf "Continue? [y/N] "; read b; sleep 1; printf "Name: "; read c; echo "$a|$b|$c" > answers; echo installed',
      ),
    async core(agent) {
      await agent.call('terminal_send', { text: 'sh install.sh' });
      await agent.call('terminal_wait', { text: '[/opt]? ' });
      await agent.call('terminal_send', { text: '/srv' });
      await agent.call('terminal_wait', { text: '[y/N] ' });
      await agent.call('terminal_send', { text: 'y' });
      await agent.call('terminal_wait', { text: 'Name: ' });
      await agent.call('terminal_send', { text: 'ada' });
      await agent.call('terminal_wait', { text: 'installed' });
    },
    async classic(agent) {
      await agent.line('sh install.sh');
      await agent.readUntil(/\[\/opt\]\? $/m);
      await agent.line('/srv');
      await agent.readUntil(/\[y\/N\] $/m);
      await agent.line('y');
      await agent.readUntil(/Name: $/m);
      await agent.line('ada');
      await agent.readUntil(/^installed/m);
    },
    verify: (folder) => check(readFileSync(join(folder, 'answers'), 'utf8') === '/srv|y|ada\n', 'answers'),
  },
  {
    name: 'edit a file in vim',
    prepare: (folder) => writeFileSync(join(folder, 'config.ini'), '[server]\nport = 80\n'),
    async core(agent) {
      await agent.call('terminal_send', { text: 'vim -u NONE -i NONE config.ini' });
      await agent.call('terminal_wait', { text: 'port = 80' });
      await agent.call('terminal_send', { text: ':%s/port = 80/port = 8080/' });
      await agent.call('terminal_send', { text: ':wq' });
      await agent.call('terminal_wait', { prompt: true });
    },
    async classic(agent) {
      await agent.line('vim -u NONE -i NONE config.ini');
      await agent.readUntil(/port = 80/, { visibleOnly: true });
      await agent.line(':%s/port = 80/port = 8080/');
      await agent.call('takeScreenshot');
      await agent.line(':wq');
      await agent.readUntil(/\$ $|# $/, { visibleOnly: true });
    },
    verify: (folder) => check(readFileSync(join(folder, 'config.ini'), 'utf8').includes('port = 8080'), 'file'),
  },
  {
    name: 'watch a log for a line',
    prepare: (folder) =>
      writeFileSync(
        join(folder, 'log.sh'),
        'for i in $(seq 1 60); do echo "INFO request $i"; sleep 0.1; [ $i = 40 ] && echo "ERROR disk full"; done',
      ),
    async core(agent) {
      await agent.call('terminal_send', { text: 'sh log.sh' });
      check((await agent.call('terminal_wait', { regex: '^ERROR .*' })).includes('disk full'), 'line');
      await agent.call('terminal_send', { keys: ['Ctrl+C'] });
    },
    async classic(agent) {
      await agent.line('sh log.sh');
      await agent.readUntil(/^ERROR disk full/m);
      await agent.call('sendKey', { key: 'Ctrl+C' });
    },
  },
  {
    name: 'start a server, use it, stop it',
    prepare: (folder) =>
      writeFileSync(
        join(folder, 'server.mjs'),
        "import{createServer}from'node:http';const s=createServer((q,r)=>r.end('hello from here'));setTimeout(()=>s.listen(0,'127.0.0.1',()=>console.log('listening on '+s.address().port)),1500)",
      ),
    async core(agent) {
      await agent.call('terminal_send', { text: 'node server.mjs' });
      const port = /listening on (\d+)/.exec(await agent.call('terminal_wait', { regex: 'listening on \\d+' }))?.[1];
      const opened = await agent.call('terminal_open', {});
      const terminal = /Opened (\w+)/.exec(opened)?.[1];
      const get = `node -e "fetch('http://127.0.0.1:${port}').then(r=>r.text()).then(console.log)"`;
      check((await agent.call('terminal_run', { terminal, command: get })).includes('hello from here'), 'answer');
      await agent.call('terminal_send', { keys: ['Ctrl+C'] });
    },
    async classic(agent) {
      await agent.line('node server.mjs &');
      const text = await agent.readUntil(/listening on (\d+)/);
      const port = /listening on (\d+)/.exec(text)?.[1];
      await agent.line(`node -e "fetch('http://127.0.0.1:${port}').then(r=>r.text()).then(console.log)"`);
      await agent.readUntil(/^hello from here/m);
      await agent.line('kill %1');
    },
  },
  {
    name: 'a build of five seconds with a progress bar',
    prepare: (folder) =>
      writeFileSync(
        join(folder, 'build.sh'),
        'for i in $(seq 1 100); do printf "\\r[%-50s] %3d%%" "$(printf "%*s" $((i / 2)) "" | tr " " "#")" $i; sleep 0.05; done; echo; echo "warning: unused variable"; echo done',
      ),
    async core(agent) {
      check((await agent.call('terminal_run', { command: 'sh build.sh' })).startsWith('exit code 0'), 'code');
    },
    async classic(agent) {
      await agent.line('sh build.sh; echo "exit: $?"');
      await agent.readUntil(/^exit: 0/m);
    },
  },
  {
    name: 'compute in a Python session',
    async core(agent) {
      await agent.call('terminal_send', { text: 'python3 -q' });
      await agent.call('terminal_wait', { text: '>>> ' });
      await agent.call('terminal_send', { text: 'import math' });
      check((await agent.call('terminal_run', { command: 'math.comb(40, 20)' })).includes('137846528820'), 'value');
      await agent.call('terminal_send', { keys: ['Ctrl+D'] });
    },
    async classic(agent) {
      await agent.line('python3 -q');
      await agent.readUntil(/>>> $/m);
      await agent.line('import math');
      await agent.line('math.comb(40, 20)');
      await agent.readUntil(/137846528820/);
      await agent.call('sendKey', { key: 'Ctrl+D' });
    },
  },
  {
    name: 'find one line among 900 of output',
    async core(agent) {
      await agent.call('terminal_run', {
        command: 'for i in $(seq 1 900); do echo "row $i $((i * 7919 % 104729))"; done',
        maxBytes: 1024,
      });
      check(
        (await agent.call('terminal_find', { pattern: '^row \\d+ 16$|^row 500 ', regex: true })).includes('row 500'),
        'line',
      );
    },
    async classic(agent) {
      await agent.line('for i in $(seq 1 900); do echo "row $i $((i * 7919 % 104729))"; done');
      await agent.readUntil(/^row 500 /m);
    },
  },
  {
    name: 'what is new after each of three commands',
    prepare: (folder) =>
      writeFileSync(join(folder, 'noise.txt'), Array.from({ length: 300 }, (_, i) => `old line ${i}`).join('\n')),
    async core(agent) {
      await agent.call('terminal_run', { command: 'cat noise.txt', maxBytes: 1024 });
      for (const word of ['one', 'two', 'three'])
        check((await agent.call('terminal_run', { command: `echo ${word}` })).includes(word), word);
    },
    async classic(agent) {
      await agent.line('cat noise.txt');
      await agent.readUntil(/old line 299/);
      for (const word of ['one', 'two', 'three']) {
        await agent.line(`echo ${word}`);
        await agent.readUntil(new RegExp(`^${word}$`, 'm'));
      }
    },
  },
];

async function measure(task, way) {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-task-'));
  task.prepare?.(folder);
  const agent = new Agent(folder);
  try {
    await agent.start();
    const started = performance.now();
    await task[way](agent);
    const seconds = (performance.now() - started) / 1000;
    task.verify?.(folder);
    return { calls: agent.calls, bytes: agent.bytes, largest: agent.largest, seconds: Number(seconds.toFixed(1)) };
  } finally {
    await agent.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

const rows = [];
for (const task of tasks) {
  process.stderr.write(`${task.name}\n`);
  rows.push({ task: task.name, core: await measure(task, 'core'), classic: await measure(task, 'classic') });
}
if (process.argv.includes('--json')) console.log(JSON.stringify(rows, null, 2));
else {
  console.log(
    '| task | core: calls | bytes | seven tools: calls | bytes | bytes, core / seven |\n|---|---|---|---|---|---|',
  );
  for (const { task, core, classic } of rows) {
    console.log(
      `| ${task} | ${core.calls} | ${core.bytes} | ${classic.calls} | ${classic.bytes} | ${(core.bytes / classic.bytes).toFixed(2)} |`,
    );
  }
  const sum = (way, field) => rows.reduce((total, row) => total + row[way][field], 0);
  console.log(
    `| **all** | **${sum('core', 'calls')}** | **${sum('core', 'bytes')}** | **${sum('classic', 'calls')}** | **${sum('classic', 'bytes')}** | **${(sum('core', 'bytes') / sum('classic', 'bytes')).toFixed(2)}** |`,
  );
  const largest = Math.max(...rows.map(({ core }) => core.largest));
  console.log(`\nThe largest core answer has ${largest} bytes, text and structure together.`);
  if (largest > 10 << 10) process.exitCode = 1;
}
