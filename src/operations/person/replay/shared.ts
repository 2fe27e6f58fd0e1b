import { z } from 'zod';
import { FairleadError } from '../../../contract/errors.ts';
import type { Caller } from '../../../engine/call/call.ts';
import { maySee } from '../../../engine/call/principal.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { ReplayEntry } from '../../../engine/recording/replay/entries.ts';

export const RecordingId = z.string().min(1).max(255).describe('Id of a recording');
export const Moment = z.number().min(0).max(1e9);
export const ReplayStretch = {
  from: Moment.optional().describe('Seconds: from this moment on; left out, from the start'),
  to: Moment.optional().describe('Seconds: up to this moment; left out, to the end'),
};

/** Those that a caller may see, newest first. */
export const visibleReplays = (engine: Engine, caller: Caller): Promise<ReplayEntry[]> =>
  engine.recordings.replays.list(({ owner }) => maySee({ owner }, caller));

/** By its id alone: a page must not name files. */
export async function replayCalled(id: string, engine: Engine, caller: Caller): Promise<ReplayEntry> {
  const found = /[/\\\0]/.test(id) ? undefined : await engine.recordings.replays.find(id);
  if (found && maySee({ owner: found.owner }, caller)) return found;
  throw new FairleadError('not_found', `There is no recording ${JSON.stringify(id.slice(0, 80))}.`, {
    hint: 'replay.list shows them with their ids.',
  });
}

/** What it is called: its title, else the name of the terminal, else its program. */
export function replayTitle({ kind, title, name, program }: ReplayEntry): string | undefined {
  return (kind === 'cast' ? title : undefined) ?? name ?? title ?? program?.split('/').at(-1);
}
