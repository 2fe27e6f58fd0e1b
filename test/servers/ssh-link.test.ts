import { expect, test } from 'vitest';
import type { SshProcess } from '../../src/transports/ssh/link.ts';
import { startSshd } from '../support/sshd.ts';

const limit = (): AbortSignal => AbortSignal.timeout(20_000);

async function text(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const chunk of stream) parts.push(chunk);
  return Buffer.concat(parts).toString();
}

async function all(process: SshProcess) {
  const [stdout, stderr, ended] = await Promise.all([text(process.stdout), text(process.stderr), process.ended]);
  return { stdout, stderr, ended };
}

test('a command: both streams, its exit code', async () => {
  await using sshd = await startSshd();
  const { link } = await sshd.connect();
  await using _ = link;
  const process = await link.exec('echo out; echo err >&2; exit 3', {}, limit());
  expect(await all(process)).toEqual({ stdout: 'out\n', stderr: 'err\n', ended: { by: 'exit', code: 3 } });
});
