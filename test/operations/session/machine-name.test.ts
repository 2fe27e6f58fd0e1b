import { expect, test, vi } from 'vitest';
import { type RpcPlace, withPlace } from '../../support/rpc-place.ts';

/** A laptop that was `mac.local` until it came into this network. */
vi.mock(import('node:os'), async (original) => ({ ...(await original()), hostname: () => 'mac.lan' }));

let place: RpcPlace;
withPlace((opened) => (place = opened));

test('a shell of ours is on this machine whatever the network calls that by now; of others nobody knows (R-RPC-028)', async () => {
  const id = await place.create();
  await place.client.call('exec.run_wait', { id, command: 'HOSTNAME=mac.local; cd /usr' });
  await place.prompted(id);
  expect(await place.client.call('session.cwd', { id })).toEqual({ cwd: 'file://mac.lan/usr', path: '/usr' });
  const telling = "printf '\\033]7;file://mac.local/srv\\007there'; sleep 60";
  const other = await place.create({ argv: ['sh', '-c', telling] });
  await place.client.call('orchestrate.wait', { id: other, pattern: 'there' });
  expect(await place.client.call('session.cwd', { id: other })).toEqual({ cwd: 'file://mac.local/srv' });
});
