import { editDistance } from '../../../lib/closest.ts';

/** Up to three ids that look like the one that was asked for, for an error that says it is not there. */
export function nearestIds(wanted: string, ids: readonly string[]): string[] {
  return ids
    .map((id) => ({ id, distance: editDistance(wanted.slice(0, 128), id) }))
    .filter(({ distance }) => distance > 0)
    .toSorted((a, b) => a.distance - b.distance || (a.id < b.id ? -1 : 1))
    .slice(0, 3)
    .map(({ id }) => id);
}
