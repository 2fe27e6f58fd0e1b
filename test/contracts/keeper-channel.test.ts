import { afterAll, expect, test } from 'vitest';
import { env, KeeperHome, listen, size, soon } from '../support/keeper/keeper.ts';
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
    const heard = listen(channel);
    await expect.poll(() => [channel.isLeased, heard.text]).toEqual([lease, 'ready\r\n']);
    await channel.write(Buffer.from('typed\n'));
    await channel.ended;
    expect(heard.text).toBe('ready\r\n<typed>\r\n');
  });
}
