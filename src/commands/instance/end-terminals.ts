import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { places } from '../../config.ts';
import { FairleadError } from '../../contract/errors.ts';
import type { Invocation } from '../command.ts';

const endMs = 15_000;

/** Ends terminals that servers of this home left running. A server that still runs keeps its own; it is named. */
export async function endTerminals({ settings, env, stdout, stderr }: Invocation): Promise<number> {
  const { home } = places(settings, env);
  const counts = await Promise.all(
    keepersIn(home).map((instance) =>
      endAll(instance, home).catch((thrown: unknown) => {
        stderr.write(`${why(instance, thrown)}\n`);
        return undefined;
      }),
    ),
  );
  const ended = counts.reduce<number>((sum, count) => sum + (count ?? 0), 0);
  stdout.write(ended === 1 ? 'Ended 1 terminal.\n' : `Ended ${ended} terminals.\n`);
  return counts.includes(undefined) ? 1 : 0;
}

/** Loads its parts only if there is a keeper. */
async function endAll(instance: string, home: string): Promise<number> {
  const [{ Instances }, { Workspaces }, { autosaveNames }, { endKeeper }] = await Promise.all([
    import('../../engine/instances/instances.ts'),
    import('../../engine/sessions/workspaces.ts'),
    import('../../engine/sessions/autosave.ts'),
    import('../../transports/local/keeper/end-keeper.ts'),
  ]);
  // A live server may be too busy to answer: do not end its terminals.
  const server = new Instances(home).list().find(({ id }) => id === instance);
  if (server) throw new FairleadError('conflict', 'A server has them.', { data: { pid: server.pid } });
  const ended = await endKeeper(instance, home, AbortSignal.timeout(endMs));
  // Do not offer to restore what was ended on purpose.
  new Workspaces(home).forget(autosaveNames(instance).last);
  return ended;
}

function why(instance: string, thrown: unknown): string {
  if (!(thrown instanceof FairleadError)) throw thrown;
  return thrown.code === 'conflict'
    ? `Server ${instance} (process ${String(thrown.data?.['pid'])}) is running and has its terminals. End it first.`
    : `The terminals of ${instance} could not be ended: ${thrown.message}`;
}

function keepersIn(home: string): string[] {
  try {
    return readdirSync(join(home, 'run')).flatMap((name) => /^keeper-(.+)\.sock$/.exec(name)?.[1] ?? []);
  } catch {
    return [];
  }
}
