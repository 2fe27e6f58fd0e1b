import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { callStream } from '../../../src/engine/call/call-stream.ts';
import { localPerson } from '../../../src/engine/call/principal.ts';
import type { Engine } from '../../../src/engine/engine.ts';
import { followTerminal } from '../../../src/operations/person/index.ts';
import { localTransport } from '../../../src/transports/local/transport.ts';
import { engineWith, limit } from '../../support/engine.ts';

/** What a tile of a dashboard shows of one terminal, from one stream. */
class Tile {
  state = '';
  title = '';
  bytes = '';

  async show(engine: Engine, session: string, signal: AbortSignal): Promise<void> {
    for await (const item of callStream(
      followTerminal,
      { session, from: 0 },
      { engine, caller: localPerson, signal },
    )) {
      this.state = item.state;
      this.title = item.title;
      this.bytes += Buffer.from(item.bytes, 'base64').toString();
    }
  }
}

test.each([
  ['marked', true],
  ['unmarked', false],
])('a tile shows state, title and bytes of a %s terminal from one stream, without a poll', async (_, integration) => {
  const home = mkdtempSync(join(tmpdir(), 'fairlead-tile-'));
  const env = { PATH: process.env['PATH'], HOME: home, LANG: 'C.UTF-8', SHELL: '/bin/bash', PS1: '$ ' };
  const options = { root: join(home, 'state'), shell: undefined, cwd: home, env, extraEnv: {}, integration };
  const leaving = new AbortController();
  try {
    await using engine = engineWith(home, { local: localTransport(options) });
    const terminal = await engine.sessions.create({}, localPerson, limit());
    const tile = new Tile();
    const shown = tile.show(engine, terminal.id, leaving.signal);
    const type = (text: string) => terminal.input.send(Buffer.from(text), 'test', limit());
    const soon = { timeout: 15_000 };
    await expect.poll(() => tile.state, soon).toBe('idle');
    await type("printf '\\033]0;named\\007'; echo by''tes; sleep 60\r");
    await expect.poll(() => tile.state, soon).toBe('running');
    await expect.poll(() => tile.title, soon).toBe('named');
    await expect.poll(() => tile.bytes, soon).toContain('bytes\r\n');
    await type('\x03');
    await expect.poll(() => tile.state, soon).toBe('idle');
    leaving.abort();
    await shown;
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
});
