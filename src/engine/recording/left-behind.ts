import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { entryOf, type LibraryEntry } from './library.ts';
import { type BegunPart, resumePart } from './part-start.ts';
import type { RecorderSettings } from './recorder-settings.ts';
import { type Recovered, recoverEntry } from './recover.ts';

const Facts = z.object({
  recordingId: z.string(),
  sessionId: z.string(),
  mode: z.enum(['always', 'on-failure']),
  format: z.enum(['v2', 'v3']),
  startTime: z.number(),
  cols: z.number(),
  rows: z.number(),
  title: z.string().nullable(),
  owner: z.enum(['tool', 'cli']),
  instance: z.string().optional(),
  principal: z.string().optional(),
  target: z.string().optional(),
  name: z.string().optional(),
  program: z.string().optional(),
  options: z.object({
    idleTimeLimit: z.number(),
    maxDuration: z.number(),
    inactivityTimeout: z.number(),
    input: z.boolean(),
    markers: z.boolean(),
    redact: z.boolean(),
    term: z.string(),
  }),
});

interface TakenOver {
  readonly settings: RecorderSettings;
  readonly part: BegunPart;
}

/**
 * The recording of this terminal whose process was killed, ready to go on. Undefined when it is not there, its process lives, or
 * how far it had come is lost: then it ends where it broke off.
 */
export async function claimLeft(path: string, terminalId: string): Promise<TakenOver | undefined> {
  const entry = await entryOf(path);
  if (entry === undefined || !isLeft(entry)) return undefined;
  const facts = Facts.safeParse(entry.metadata).data;
  if (facts?.sessionId !== terminalId) return undefined;
  const { options, instance, ...start } = facts;
  const settings = { ...start, ...options, instance, files: entry.files, snapshot: true };
  const part = await resumePart(settings, entry.bytes);
  if (part === undefined) await recoverEntry(entry);
  return part && { settings, part };
}

/** Closes what processes that are gone left open in a directory, unless a terminal that outlived them may go on with it. */
export async function closeLeft(directory: string, instance: string | undefined): Promise<Recovered[]> {
  const names = await readdir(directory).catch(() => []);
  const closed: Recovered[] = [];
  for (const name of names.filter((one) => one.endsWith('.cast.part'))) {
    const entry = await entryOf(join(directory, name));
    if (entry === undefined || !isLeft(entry)) continue;
    const owner = Facts.safeParse(entry.metadata).data?.instance;
    if (owner === undefined || owner === instance) closed.push(await recoverEntry(entry));
  }
  return closed;
}

const isLeft = ({ state, writer }: LibraryEntry): boolean => state === 'unfinished' && writer === 'dead';
