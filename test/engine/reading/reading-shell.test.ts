import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findInTerminal } from '../../../src/engine/reading/find.ts';
import { readTerminal } from '../../../src/engine/reading/read.ts';
import type { Terminal } from '../../../src/engine/terminal/terminal.ts';
import { localTransport } from '../../../src/transports/local/transport.ts';
import { typeText } from '../../../src/engine/input/typing.ts';
import { engineWith, atPrompt } from '../../support/engine.ts';

const signal = AbortSignal.timeout(60_000);

async function openShell(): Promise<{ terminal: Terminal } & AsyncDisposable> {
  const home = mkdtempSync(join(tmpdir(), 'fairlead-reading-'));
  const env = { PATH: process.env['PATH'], HOME: home, LANG: 'C.UTF-8' };
  const local = localTransport({ root: home, shell: '/bin/bash', cwd: home, env, extraEnv: {}, integration: true });
  const engine = engineWith(home, { local });
  const terminal = await engine.sessions.create({}, { principal: 'test' }, signal);
  await atPrompt(terminal);
  return {
    terminal,
    async [Symbol.asyncDispose]() {
      await engine[Symbol.asyncDispose]();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

async function run(terminal: Terminal, command: string): Promise<void> {
  // With the prompt: what comes after the end of a command is part of what is read.
  const back = new Promise<void>((resolve) => {
    let over = false;
    const listening = terminal.blocks.events.on((event) => {
      over ||= event.type === 'ended';
      if (!over || event.type !== 'prompt') return;
      listening[Symbol.dispose]();
      resolve();
    });
  });
  await typeText(terminal, command, { by: 'test', paste: false, submit: true }, signal);
  await back;
}

describe.runIf(process.platform === 'linux')('reading a real shell', () => {
  test('five views of it, and the rest of 50,000 lines', async () => {
    await using shell = await openShell();
    const { terminal } = shell;
    const first = await readTerminal(terminal, { view: 'screen' }, signal);
    await run(terminal, "printf 'a%.0s' {1..100}; printf '\\n10%%\\r100%%\\n'; false");
    const command = await readTerminal(terminal, { view: 'command' }, signal);
    expect(command).toMatchObject({ text: `${'a'.repeat(100)}\n100%`, command: { exitCode: 1, running: false } });
    const since = await readTerminal(terminal, { view: 'new', cursor: first.cursor }, signal);
    expect(since.text).toContain(`\n${'a'.repeat(100)}\n100%\n`);
    await run(terminal, 'seq 1 50000');
    const seq = await readTerminal(terminal, { view: 'command' }, signal);
    expect(seq).toMatchObject({ totalLines: 50_000, command: { exitCode: 0, command: 'seq 1 50000' } });
    expect(seq.text).toMatch(/^1\n2\n3\n[^]*\n49999\n50000$/);
    const page = await readTerminal(
      terminal,
      { view: 'command', rest: seq.rest, line: 25_000, maxBytes: 1024 },
      signal,
    );
    expect(page.text).toMatch(/^25000\n25001\n/);
    const { totalLines } = await readTerminal(terminal, { view: 'new', cursor: command.cursor }, signal);
    expect(totalLines).toBeGreaterThanOrEqual(50_000);
    expect(await findInTerminal(terminal, { pattern: '^4999\\d$', regex: true }, signal)).toMatchObject({ total: 10 });
  });

  test('a full-screen program is read as its screen, and what was before it comes back', async () => {
    await using shell = await openShell();
    const { terminal } = shell;
    await run(terminal, 'echo before');
    const { cursor } = await readTerminal(terminal, { view: 'screen' }, signal);
    await run(terminal, "printf '\\e[?1049h\\e[Hmenu\\e[3;5Hitem'");
    const menu = await readTerminal(terminal, { view: 'new', cursor }, signal);
    expect(menu.altScreen).toBe(true);
    expect(menu.text).toMatch(/^menu[^]*\n {4}item/);
    await run(terminal, "printf '\\e[?1049l'; echo after");
    const after = await readTerminal(terminal, { view: 'new', cursor }, signal);
    expect(after.altScreen).toBe(false);
    expect(after.text).toContain('after');
    expect(after.text).not.toMatch(/^ {4}item/m);
  });
});
