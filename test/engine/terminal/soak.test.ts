import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Mcp } from '../../support/mcp-client.ts';
import { shortest } from '../../support/shortest.ts';

const linux = process.platform === 'linux';

interface Made {
  readonly sessionId: string;
}

function open(pid: number): { fds: number; ptys: number; rssMb: number; threads: number } {
  const all = readdirSync(`/proc/${pid}/fd`).map((fd) => target(`/proc/${pid}/fd/${fd}`));
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
  const ptys = all.filter((path) => path.endsWith('/ptmx')).length;
  return { fds: all.length, ptys, rssMb: field('VmRSS') / 1024, threads: field('Threads') };
}

function target(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return 'closed meanwhile';
  }
}

function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

async function createMany(mcp: Mcp, count: number, input: object): Promise<string[]> {
  const ids: string[] = [];
  for (let at = 0; at < count; at += 20) {
    const batch = Array.from({ length: Math.min(20, count - at) }, () => mcp.facts<Made>('createSession', input));
    ids.push(...(await Promise.all(batch)).map(({ sessionId }) => sessionId));
  }
  return ids;
}

describe.runIf(linux)('many terminals', () => {
  test('500 opened and closed, then 200 idle: what they took comes back, and idling costs next to nothing', {
    timeout: 300_000,
  }, async () => {
    await using mcp = await Mcp.start({ args: ['--max-sessions', '1000', '--session-idle-timeout', '0'] });
    const pid = mcp.child.pid ?? 0;
    // Warm: what is loaded once, and the heap a busy server settles at, are not leaks.
    for (let round = 0; round < 2; round++) {
      const ids = await createMany(mcp, 100, { shell: '/bin/sh' });
      await Promise.all(ids.map((sessionId) => mcp.call('destroySession', { sessionId })));
    }
    const before = open(pid);

    for (let round = 0; round < 5; round++) {
      const ids = await createMany(mcp, 100, { shell: '/bin/sh' });
      expect(open(pid).threads, 'no thread per terminal').toBeLessThanOrEqual(before.threads + 2);
      await Promise.all(ids.map((sessionId) => mcp.call('destroySession', { sessionId })));
    }
    await expect.poll(() => open(pid).fds).toBeLessThanOrEqual(before.fds + 2);
    await expect.poll(() => open(pid).ptys).toBeLessThanOrEqual(before.ptys + 2);
    expect(open(pid).rssMb).toBeLessThan(before.rssMb + 120);

    const ids = await createMany(mcp, 200, { shell: '/bin/sh' });
    expect(open(pid).ptys).toBeGreaterThanOrEqual(before.ptys + 200);
    expect(await mcp.run('echo alive', { sessionId: ids[150] })).toMatchObject({ content: 'alive' });
    const idling = async (): Promise<number> => {
      const start = cpuMs(pid);
      await new Promise((resolve) => setTimeout(resolve, 3000));
      return cpuMs(pid) - start;
    };
    // 3 s of wall time: at most 2 % of one core, garbage collection after the start included. On a busy machine the last shells
    // may still be starting.
    expect(await shortest(61, idling)).toBeLessThanOrEqual(60);
    expect((open(pid).rssMb - before.rssMb) / 200, 'MB per idle terminal').toBeLessThan(3);
  });
});
