import { hostname } from 'node:os';

/**
 * Whether a name that a program gave to its machine means this one. Who gave none means its own. `isOurs`: it was given by a
 * shell we started here, when that began; the network may have called the machine something else since.
 */
export function isThisMachine(name: string | undefined, isOurs = false, own = hostname()): boolean {
  if (name === undefined || name === '') return true;
  const [given, ours] = [name.toLowerCase(), own.toLowerCase()];
  if (isOurs && firstLabel(given) === firstLabel(ours)) return true;
  // Some say `build`, some `build.example.org`; between two long names every letter counts.
  return given === 'localhost' || given === ours || given === firstLabel(ours) || firstLabel(given) === ours;
}

const firstLabel = (name: string): string => name.split('.', 1)[0] ?? '';
