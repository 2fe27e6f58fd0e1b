import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { localPerson } from '../../../src/engine/call/principal.ts';
import { localTransport } from '../../../src/transports/local/transport.ts';
import { engineWith, limit } from '../../support/engine.ts';
import { Tile } from '../../support/tile.ts';

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
