import { join } from 'node:path';
import { FairleadError } from '../contract/errors.ts';
import { Instances } from '../engine/instances/instances.ts';
import { type InstanceRecord, parseRecord } from '../engine/instances/record.ts';
import { readText } from '../system/files/private-files.ts';
import { requireOwn } from '../engine/instances/state-root.ts';

/** The named instance, else the active, else the newest, else the one in a compatibility file of another product. */
export function findInstance(home: string, wanted: string | undefined): InstanceRecord {
  requireOwn(home);
  const peers = new Instances(home);
  const live = peers.list();
  const named = wanted === undefined ? undefined : live.find(({ id, title }) => id === wanted || title === wanted);
  if (wanted !== undefined && !named) {
    throw new FairleadError('unavailable', `There is no instance ${wanted}.`, {
      hint: live.length === 0 ? 'None is running: fairlead serve' : `Running: ${live.map(({ id }) => id).join(', ')}.`,
    });
  }
  const found = named ?? peers.active() ?? live.at(-1) ?? parseRecord(readText(join(home, 'server.json')) ?? '');
  if (found) return found;
  throw noneRunning();
}

export const noneRunning = (): FairleadError =>
  new FairleadError('unavailable', 'You have no running Fairlead server.', { hint: 'Start one with: fairlead serve' });
