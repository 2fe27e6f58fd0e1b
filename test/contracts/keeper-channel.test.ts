import { afterAll } from 'vitest';
import { env, KeeperHome, size, soon } from '../support/keeper/keeper.ts';
import { behavesLikeAChannel, saving } from './channel.ts';

if (process.platform === 'linux') {
  const home = new KeeperHome();
  const client = home.client();
  afterAll(() => home[Symbol.asyncDispose]());
  const script = (text: string) => client.open({ argv: ['sh', '-c', text], env }, size, home.newId(), soon());
  behavesLikeAChannel('kept', {
    repeat: () => script('stty raw -echo; echo ready; exec cat'),
    count: (count, code) => script(`stty -opost; seq 1 ${count}; exit ${code}`),
    save: (seconds) => script(saving(seconds)),
  });
}
