import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { places } from '../config.ts';
import { FairleadError } from '../contract/errors.ts';
import { autosaveNames } from '../engine/autosave.ts';
import { Instances } from '../engine/instances/instances.ts';
import { Workspaces } from '../engine/workspaces.ts';
import { keeperFor } from '../transports/local/keeper/client.ts';
import type { Invocation } from './command.ts';

const endMs = 15_000;

/** Ends what servers of this home left running. Those of a server that runs are its own: it is named instead. */
export async function endTerminals({ settings, env, stdout, stderr }: Invocation): Promise<number> {
  const { home } = places(settings, env);
  let ended = 0;
  let code = 0;
  // One that is alive may be too busy to say so: its terminals are not for others to end.
  const live = new Map(new Instances(home).list().map(({ id, pid }) => [id, pid]));
  for (const instance of keepersIn(home)) {
    const pid = live.get(instance);
    if (pid !== undefined) {
      stderr.write(running(instance, pid));
      code = 1;
      continue;
    }
    await using keeper = keeperFor(instance, home);
    try {
      ended += await keeper.end(AbortSignal.timeout(endMs));
      // What was ended on purpose is not offered at the next start.
      new Workspaces(home).forget(autosaveNames(instance).last);
    } catch (thrown) {
      if (!(thrown instanceof FairleadError)) throw thrown;
      stderr.write(
        thrown.code === 'conflict'
          ? running(instance, thrown.data?.['pid'])
          : `The terminals of ${instance} could not be ended: ${thrown.message}\n`,
      );
      code = 1;
    }
  }
  stdout.write(ended === 1 ? 'Ended 1 terminal.\n' : `Ended ${ended} terminals.\n`);
  return code;
}

const running = (instance: string, pid: unknown): string =>
  `Server ${instance} (process ${String(pid)}) is running and has its terminals. End it first.\n`;

function keepersIn(home: string): string[] {
  try {
    return readdirSync(join(home, 'run')).flatMap((name) => /^keeper-(.+)\.sock$/.exec(name)?.[1] ?? []);
  } catch {
    return [];
  }
}
