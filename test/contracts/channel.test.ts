import { afterAll, beforeAll } from 'vitest';
import { EchoChannel } from '../support/echo-channel.ts';
import { linuxPty, portablePty } from '../../src/transports/local/index.ts';
import { channelOf } from '../../src/transports/ssh/open/channel-of.ts';
import { openChannel } from '../../src/transports/ssh/open/open-channel.ts';
import type { SshLink } from '../../src/transports/ssh/link/link.ts';
import { isRoot, type Sshd, startSshd } from '../support/ssh/sshd.ts';
import { behavesLikeAChannel, saving } from './channel.ts';

const size = { cols: 80, rows: 24 };
const env = { PATH: '/usr/local/bin:/usr/bin:/bin', TERM: 'xterm-256color' };

behavesLikeAChannel('echo', {
  repeat: async () => {
    const channel = new EchoChannel(size);
    channel.say('ready\n');
    return channel;
  },
  count: async (count, code) => {
    const channel = new EchoChannel(size);
    channel.say(Array.from({ length: count }, (_, index) => `${index + 1}\n`).join(''));
    channel.end({ by: 'exit', code });
    return channel;
  },
});

for (const [name, load] of [
  ['linux pty', linuxPty],
  ['portable pty', portablePty],
] as const) {
  if (process.platform !== 'linux') continue;
  const script = async (text: string) => (await load())({ argv: ['sh', '-c', text], env }, size);
  behavesLikeAChannel(name, {
    repeat: () => script('stty raw -echo; echo ready; exec cat'),
    count: (count, code) => script(`stty -opost; seq 1 ${count}; exit ${code}`),
    save: (seconds) => script(saving(seconds)),
  });
}

let sshd: Sshd;
let link: SshLink;
beforeAll(async () => {
  sshd = await startSshd();
  ({ link } = await sshd.connect());
});
afterAll(async () => {
  await link[Symbol.asyncDispose]();
  await sshd[Symbol.asyncDispose]();
});

for (const [name, pty, raw, plain] of [
  ['ssh with a terminal', { term: 'xterm', size }, 'stty raw -echo; ', 'stty -opost; '],
  ['ssh without a terminal', undefined, '', ''],
] as const) {
  // An sshd of an ordinary user cannot give out terminals.
  if (pty !== undefined && !isRoot) continue;
  const run = async (command: string) =>
    channelOf(await link.exec(command, { pty }, AbortSignal.timeout(10_000)), { pty: pty !== undefined });
  behavesLikeAChannel(name, {
    repeat: () => run(`${raw}echo ready; exec cat`),
    count: (count, code) => run(`${plain}seq 1 ${count}; exit ${code}`),
  });
}

if (isRoot) {
  const run = async (text: string) => {
    const request = { target: 'ssh:host', size, argv: ['sh', '-c', text], terminalId: 't_00000000' } as const;
    const options = { integration: false };
    return (await openChannel(link, request, options, AbortSignal.timeout(10_000))).channel;
  };
  behavesLikeAChannel('ssh after the handshake', {
    repeat: () => run('stty raw -echo; echo ready; exec cat'),
    count: (count, code) => run(`stty -opost; seq 1 ${count}; exit ${code}`),
  });
}
