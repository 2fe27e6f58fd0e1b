import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { RpcClient } from '../support/rpc.ts';
import { Served } from '../support/served.ts';
import { logEvents, outputOf } from '../support/session-logs.ts';

/** How often the server is killed. FAIRLEAD_CRASHES=50 is the long form. */
const moments = Number(process.env['FAIRLEAD_CRASHES'] ?? 8);

/** Prints numbered lines with their time, a hundred a second, without starting other programs. */
const count = 'exec 9<> <(:); n=0; while :; do echo "line $((++n)) $EPOCHREALTIME"; read -t 0.01 -u 9; done';
/** A megabyte a second: recordings rotate while servers die. */
const flood = 'exec 9<> <(:); while :; do head -c 75000 /dev/urandom | base64; read -t 0.1 -u 9; done';

interface Listed {
  readonly unterm_session_id: string;
  readonly tab_id: number;
  readonly ended_at: string | null;
  readonly exit_reason: string | null;
  readonly parent_session_id: string | null;
  readonly log_path: string;
  readonly md_path: string;
}

async function connect(served: Served): Promise<RpcClient> {
  const text = readFileSync(join(served.home, '.fairlead', 'server.json'), 'utf8');
  const { mcp_port, auth_token } = JSON.parse(text) as { mcp_port: number; auth_token: string };
  return await RpcClient.connect(mcp_port, auth_token);
}

/** A document that an editor would show as it is meant: front matter, and every fence closed. */
function expectWhole(markdown: string, { unterm_session_id }: Listed): void {
  const [, head = '', body = ''] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(markdown) ?? [];
  expect(head).toContain(`unterm_session_id: "${unterm_session_id}"\n`);
  for (const line of head.split('\n')) expect(line).toMatch(/^[a-z0-9_]+: (?:null|true|false|\d+|".*"|\[.*\])$/);
  expect((body.match(/^`{3,}/gm) ?? []).length % 2).toBe(0);
  expect(body.endsWith('\n')).toBe(true);
}

test(`a recording survives ${moments} kills of the server at any moment: recovered, valid line by line, continued without a gap (R-RPC-061, 066)`, {
  timeout: 60_000 + moments * 30_000,
}, async () => {
  await using served = await Served.start();
  let rpc = await connect(served);
  const ids: number[] = [];
  for (const command of [count, flood]) {
    const { id } = await rpc.call('session.create', { cwd: served.home });
    await rpc.call('session.recording_start', { id });
    await rpc.call('exec.run', { id, command });
    await rpc.call('orchestrate.wait', { id, pattern: command === count ? 'line 3 ' : '/', timeout_ms: 30_000 });
    ids.push(id);
  }
  const list = async (): Promise<Listed[]> => await rpc.call('session.recording_list');
  const newest = async (): Promise<Listed> =>
    (await list()).find(({ tab_id }) => tab_id === ids[0]) ?? expect.unreachable();
  let worstMs = 0;
  const round = async (signal: 'SIGKILL' | 'SIGTERM'): Promise<void> => {
    const { unterm_session_id: before } = await newest();
    rpc[Symbol.dispose]();
    const killedAt = Date.now();
    await served.end(signal);
    await served.restart();
    rpc = await connect(served);
    for (const id of ids) expect((await rpc.call('session.recording_status', { id })).recording).toBe(true);
    const isOver = async (): Promise<boolean> => {
      const all = await list();
      return all.filter(({ ended_at, md_path }) => ended_at !== null && existsSync(md_path)).length >= all.length - 2;
    };
    await expect.poll(isOver, { timeout: 30_000 }).toBe(true);
    const old = (await list()).find(({ unterm_session_id }) => unterm_session_id === before) ?? expect.unreachable();
    expect(old.exit_reason).toBe(signal === 'SIGKILL' ? 'recovered' : 'server_shutdown');
    expect((await newest()).parent_session_id).toBe(before);
    const stamps = [...outputOf(readFileSync(old.log_path, 'utf8')).matchAll(/line \d+ (\d+\.\d+)\r\n/g)];
    const last = Number(stamps.at(-1)?.[1] ?? Number.NaN) * 1000;
    // A kill right after a restart may find nothing new.
    if (!Number.isNaN(last)) worstMs = Math.max(worstMs, killedAt - last);
  };
  for (let moment = 0; moment < moments; moment++) {
    // Any moment counts: that is what is waited for here.
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 2500));
    await round('SIGKILL');
  }
  // An orderly end is no gap either.
  await round('SIGTERM');
  const [counted = 0, flooded = 0] = ids;
  await rpc.call('exec.cancel', { id: counted });
  await rpc.call('session.destroy', { id: flooded });
  await rpc.call('session.recording_stop', { id: counted });
  const all = (await list()).reverse();
  expect(all.filter(({ exit_reason }) => exit_reason === 'recovered').length).toBeGreaterThanOrEqual(2 * moments);
  for (const entry of all) {
    // Every line is an event.
    logEvents(readFileSync(entry.log_path, 'utf8'));
    expectWhole(readFileSync(entry.md_path, 'utf8'), entry);
  }
  const index = JSON.parse(readFileSync(join(served.home, '.fairlead', 'sessions', 'index.json'), 'utf8'));
  expect(index).toHaveLength(all.length);
  const chain = all.filter(({ tab_id }) => tab_id === counted);
  const raw = chain.map(({ log_path }) => outputOf(readFileSync(log_path, 'utf8'))).join('');
  const numbers = [...raw.matchAll(/line (\d+) \d+\.\d+\r\n/g)].map(([, number]) => Number(number));
  expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, at) => at + 1));
  const last = chain.at(-1) ?? expect.unreachable();
  const { markdown } = await rpc.call('session.recording_read', { session_id: last.unterm_session_id, chain: true });
  expect(markdown).toContain(`\nline 1 `);
  expect(markdown).toContain(`\nline ${numbers.length} `);
  process.stdout.write(
    `${moments} kills, ${all.length} recordings, ${numbers.length} lines; oldest unflushed output ${Math.round(worstMs)} ms\n`,
  );
  // The log is flushed within a second; the rest is how long a line is on its way, and a kill takes.
  expect(worstMs).toBeLessThan(5000);
  rpc[Symbol.dispose]();
});
