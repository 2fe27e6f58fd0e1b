import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EchoChannel } from '../../../test/support/echo-channel.ts';
import { localTransport } from './transport.ts';

const size = { cols: 80, rows: 24 };
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fairlead-opener-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a home that cannot be looked at is not begun in, and is no reason not to begin', async () => {
  const home = join(folder, 'loop');
  symlinkSync(home, home);
  let begun: string | undefined;
  const transport = localTransport(
    { root: folder, shell: '/bin/sh', cwd: folder, home, env: {}, extraEnv: {}, integration: false },
    {
      open: async ({ cwd }) => {
        begun = cwd;
        return new EchoChannel(size);
      },
    },
  );
  await transport.open({ target: 'local', size, fromHome: true, terminalId: 'id' }, AbortSignal.timeout(10_000));
  expect(begun).toBe(folder);
});
