import { constants } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import type { Signal } from '../../engine/channel.ts';
import { sessionGroups } from './proc.ts';

const LOOK_AGAIN_MS = 20;

/** Sends to the group in the foreground, and what ends things to every group of the session that `leader` leads. */
export function signalTerminal(leader: number, foreground: number | undefined, signal: Signal): void {
  const ending = signal === 'HUP' || signal === 'TERM' || signal === 'KILL';
  const groups = new Set([foreground ?? leader]);
  if (ending) for (const group of [leader, ...sessionGroups(leader)]) groups.add(group);
  for (const group of groups) signalGroup(group, signal);
  // A stopped process hears nothing until it continues.
  if (signal === 'HUP' || signal === 'TERM') for (const group of groups) signalGroup(group, 'CONT');
}

/**
 * Ends a group that may outlive its terminal, a foreground job that ignores HUP. It is nobody's child by now and no
 * event tells of its end, so it is looked at now and then, until `limit` on the clock of `performance.now`.
 */
export async function endGroup(group: number, limit: number): Promise<void> {
  while (exists(group)) {
    if (performance.now() >= limit) return signalGroup(group, 'KILL');
    await setTimeout(LOOK_AGAIN_MS);
  }
}

function exists(group: number): boolean {
  try {
    return process.kill(-group, 0);
  } catch {
    return false;
  }
}

function signalGroup(group: number, signal: Signal): void {
  try {
    process.kill(-group, `SIG${signal}`);
  } catch {
    // Gone already, or another user's: either way there is nothing left for us to do.
  }
}

/** `TERM` for 15; the number itself where it has no name. */
export function signalName(signal: number): string {
  const found = Object.entries(constants.signals).find(([, value]) => value === signal)?.[0];
  return found === undefined ? String(signal) : found.slice('SIG'.length);
}
