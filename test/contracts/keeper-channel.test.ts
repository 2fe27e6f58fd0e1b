import { afterAll, expect, test } from 'vitest';
import { env, KeeperHome, rest, size, soon } from '../support/keeper/keeper.ts';
import { behavesLikeAChannel, saving } from './channel.ts';

for (const lease of [true, false]) {
  if (process.platform !== 'linux') continue;
  const name = lease ? 'a terminal leased from the keeper' : 'a terminal through the keeper';
  const home = new KeeperHome();
  const client = home.client({ lease });
  afterAll(() => home[Symbol.asyncDispose]());
  const script = (text: string) => client.open({ argv: ['sh', '-c', text], env }, size, home.newId(), soon());
  behavesLikeAChannel(name, {
    repeat: () => script('stty raw -echo; echo ready; exec cat'),
    count: (count, code) => script(`stty -opost; seq 1 ${count}; exit ${code}`),
    save: (seconds) => script(saving(seconds)),
  });

  test(`${name} is what its name says`, async () => {
    const channel = await script('stty -echo; echo ready; read x; echo "<$x>"');
    const printed = rest(channel);
    if (lease) await expect.poll(() => channel.isLeased).toBe(true);
    await channel.write(Buffer.from('typed\n'));
    expect(channel.isLeased).toBe(lease);
    expect(await printed).toBe('ready\r\n<typed>\r\n');
  });
}
