import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { KeeperClient } from '../../../src/transports/local/keeper/client/keeper-client.ts';
import { keeperTransport } from '../../../src/transports/local/keeper/client/keeper-transport.ts';
import { atPrompt, engineWith, limit } from '../../support/engine.ts';
import { OwnKeeper } from '../../support/keeper/own-keeper.ts';
import { askAndRead, clean, prepare, runs } from '../../support/queries/matrix.ts';

const shells = ['bash', 'zsh', 'fish', 'dash'];
const roads = [true, false].flatMap((direct) => shells.map((shell) => ({ shell, direct })));

test.each(roads)('$shell in a keeper, lent: $direct: who can read the answers has them', async ({ shell, direct }) => {
  const home = mkdtempSync(join(tmpdir(), 'fairlead-kept-replies-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  prepare(home);
  await using own = await OwnKeeper.start();
  const { folder, socket } = own;
  const client = new KeeperClient(
    { folder, socket, lock: join(folder, 'lock'), log: join(folder, 'log') },
    { lease: direct },
  );
  const env = { PATH: process.env['PATH'], HOME: home, LANG: 'C.UTF-8', ZDOTDIR: home };
  const local = keeperTransport(
    { root: join(home, '.fairlead'), shell: undefined, cwd: home, env, extraEnv: {}, integration: true },
    client,
  );
  await using engine = engineWith(home, { local });
  const terminal = await engine.open({ target: 'local', size: { cols: 80, rows: 24 }, shell }, limit());
  await atPrompt(terminal);
  await runs(terminal, `cat ${join(home, 'all')}`);
  await runs(terminal, `sh ${join(home, 'leave.sh')} ${join(home, 'all')}`);
  await runs(terminal, `sh ${join(home, 'linger.sh')} ${join(home, 'all')}`);
  await clean(terminal);
  await askAndRead(terminal, home);
  expect(terminal.state.current).toBe('idle');
});
