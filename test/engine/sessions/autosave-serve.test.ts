import { existsSync, mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Served } from '../../support/served.ts';

interface Listed {
  readonly id: number;
  readonly name?: string;
  readonly pid: number;
  readonly cwd: string;
}

const options = ['--port', '0', '--rpc-port', '0', '--autosave'];

async function sessions(served: Served): Promise<Listed[]> {
  return JSON.parse(await served.fairlead(['session', 'list', '--json'])).sessions;
}

function savedIn(served: Served, name: string): string[] {
  const file = join(served.home, '.fairlead', 'workspaces', `${name}.json`);
  if (!existsSync(file)) return [];
  return JSON.parse(readFileSync(file, 'utf8')).sessions.map(({ name, id }: Listed) => name ?? String(id));
}

/** Kills the server, and the process that keeps its terminals: as when the machine goes down. */
async function crash(served: Served): Promise<void> {
  const [shell] = await sessions(served);
  const keeper = Number(/^\d+ \(.*\) \S (\d+)/.exec(readFileSync(`/proc/${shell?.pid}/stat`, 'utf8'))?.[1]);
  await served.end('SIGKILL');
  process.kill(keeper, 'SIGKILL');
  await expect.poll(() => existsSync(`/proc/${shell?.pid}`), { timeout: 10_000 }).toBe(false);
}

// Many programs one after the other.
describe.runIf(process.platform === 'linux')('R-RPC-112 autosave', { timeout: 90_000 }, () => {
  test('what a crash takes is offered at the next start, and comes back', async () => {
    await using served = await Served.start(options);
    const folder = join(realpathSync(served.home), 'work');
    mkdirSync(folder);
    await served.fairlead(['session', 'create', '--name', 'build', '--cwd', folder]);
    await expect.poll(() => savedIn(served, '_last'), { timeout: 10_000 }).toEqual(['0', 'build']);
    await crash(served);
    await served.restart();
    expect(served.err).toContain('Lost since the previous server: 2 terminals. `fairlead workspace restore _lost`');
    await served.fairlead(['workspace', 'restore', '_lost']);
    expect(await sessions(served)).toMatchObject([{ id: 0 }, { id: 1 }, { id: 2, name: 'build' }]);
    expect(await served.fairlead(['session', 'cwd', '2'])).toContain(folder);
    await expect.poll(() => savedIn(served, '_last'), { timeout: 10_000 }).toEqual(['0', '1', 'build']);
  });

  test('what outlives the server is not gone, nor what ends with it or on purpose', async () => {
    await using served = await Served.start(options);
    await expect.poll(() => savedIn(served, '_last'), { timeout: 10_000 }).toEqual(['0']);
    await served.end('SIGKILL');
    await served.restart();
    expect(served.err).not.toContain('Gone');
    await served.fairlead(['session', 'create', '--name', 'short']);
    await served.end();
    // At an orderly end it is saved as it is, however young.
    expect(savedIn(served, '_last')).toEqual(['0', 'short']);
    await served.endTerminals();
    expect(savedIn(served, '_last')).toEqual([]);
    await served.restart();
    expect(served.err).not.toContain('Gone');
  });

  test('without the switch nothing is saved', async () => {
    await using served = await Served.start(['--port', '0', '--rpc-port', '0']);
    await served.end();
    expect(existsSync(join(served.home, '.fairlead', 'workspaces'))).toBe(false);
  });
});
