import { join } from 'node:path';
import { places } from '../../config.ts';
import { FairleadError } from '../../contract/errors.ts';
import { type CastReading, readCast } from '../../engine/recording/cast/cast-reader.ts';
import { findRecording } from '../../engine/recording/library.ts';
import { LogLibrary } from '../../engine/recording/log/log-library.ts';
import { RecordingSettings } from '../../engine/recording/log/settings.ts';
import { blankKey } from '../../engine/recording/keyframes/keyframe.ts';
import { fromCast, listReplays, type ReplayEntry } from '../../engine/recording/replay/entries.ts';
import { logEvents, logInfo } from '../../engine/recording/replay/log-cast.ts';
import { maskedEvents } from '../../engine/recording/replay/masked-range.ts';
import { CurrentRedactor } from '../../engine/redaction/current-redactor.ts';
import { secretValues } from '../../engine/redaction/secret-values.ts';
import { systemClock } from '../../system/clock.ts';
import { installationKey } from '../../system/installation-key.ts';
import type { Invocation } from '../command.ts';

type Around = Pick<Invocation, 'settings' | 'env' | 'stderr'>;

/** The raw logs of sessions, and their markdown. */
export function logLibrary({ settings, env, stderr }: Around): LogLibrary {
  const { home: root } = places(settings, env);
  const warn = (message: string): void => void stderr.write(`fairlead: ${message}\n`);
  const recording = new RecordingSettings({ root, clock: systemClock, warn });
  const redactor = new CurrentRedactor({
    key: () => installationKey(join(root, 'redaction.key')),
    patterns: () => recording.get().redaction.custom_patterns,
    // Most likely those of the server, too: what is exported may be handed on.
    known: () => secretValues(env),
  });
  return new LogLibrary({ root, clock: systemClock, settings: recording, redactor: () => redactor.get() });
}

/** Recordings of both kinds, newest first. */
export async function allRecordings(around: Around): Promise<ReplayEntry[]> {
  return await listReplays(places(around.settings, around.env).recordings, logLibrary(around).index);
}

/** By id, by the first characters of one, by file name, or by path; a log by its id or the path of its file. */
export async function findEither(around: Around, wanted: string): Promise<ReplayEntry> {
  const logs = (await allRecordings(around)).filter(({ kind }) => kind === 'log');
  const exact = logs.find(({ id, path, log }) => id === wanted || path === wanted || log?.md_path === wanted);
  if (exact) return exact;
  const close = wanted.length >= 4 ? logs.filter(({ id }) => id.startsWith(wanted)) : [];
  const cast = await findRecording(places(around.settings, around.env).recordings, wanted).then(
    fromCast,
    (error: FairleadError) => error,
  );
  if (!(cast instanceof Error)) return cast;
  if (cast.code !== 'not_found' || close.length === 0) throw cast;
  if (close.length === 1) return close[0] as ReplayEntry;
  throw new FairleadError('invalid_input', `${close.length} recordings begin with "${wanted}".`, {
    hint: `Give more characters: ${close.map(({ id }) => id).join(', ')}.`,
  });
}

/** What is played or exported: a cast as it is, a raw log with its secrets masked. */
export async function openRecording(around: Around, { kind, path }: ReplayEntry): Promise<CastReading> {
  if (path === undefined) {
    throw new FairleadError('not_found', 'The raw log of this recording was not kept.', {
      hint: 'Its markdown is there: fairlead recordings export --format md.',
    });
  }
  if (kind === 'cast') return await readCast(path, { lenient: true });
  const info = await logInfo(path);
  const play = { events: () => logEvents(path, info), redactor: logLibrary(around).redactor, growing: false };
  return { info, events: withEnds(maskedEvents(play, blankKey(info), Number.POSITIVE_INFINITY)) };
}

async function* withEnds(events: ReturnType<typeof maskedEvents>): CastReading['events'] {
  for await (const event of events) yield { ...event, end: 0 };
}
