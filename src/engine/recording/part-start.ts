import { rename, writeFile } from 'node:fs/promises';
import { ownIdentity } from '../../system/process-identity.ts';
import { removeFile } from '../../system/files/remove-file.ts';
import { type CastInfo, readHeader } from './cast/cast-reader.ts';
import { type CastHeader, headerLine } from './cast/cast-writer.ts';
import { freeBytes, notWritable, tooLittleRoom } from './directory.ts';
import { discard, reserving } from './keep.ts';
import { factsOfTerminal, type RecordingStart, type WriterFacts } from './metadata.ts';
import { openPart, PartFile, reopenPart } from './part-file.ts';
import { PlaceFile, type RecordedPlace, readPlace } from './place-file.ts';
import { defaultLimits, type RecorderParts, type RecorderSettings } from './recorder-settings.ts';
import type { FirstFrame, RecordingSource } from './source.ts';

/** The files of a recording that goes on: a header at least, and how far it has come. */
export interface BegunPart {
  readonly file: PartFile;
  readonly places: PlaceFile;
  readonly info: CastInfo;
  /** Of the process before; undefined when the recording begins here. */
  readonly place?: RecordedPlace;
}

const snapshotLimitMs = 2_000;

/** Free and required bytes if there are too few; a disk that does not report its space has enough. */
export async function lacking(
  directory: string,
  parts: Pick<RecorderParts, 'limits' | 'freeBytes'>,
): Promise<{ free: number; wanted: number } | undefined> {
  const wanted = parts.limits?.freeBytes ?? defaultLimits.freeBytes;
  const free = await (parts.freeBytes ?? freeBytes)(directory).catch(() => wanted);
  return free < wanted ? { free, wanted } : undefined;
}

export async function needRoom(directory: string, parts: RecorderParts): Promise<void> {
  const lack = await lacking(directory, parts);
  if (lack !== undefined) throw tooLittleRoom(directory, lack.free, lack.wanted);
}

/** Makes the files of a new recording. */
export async function beginPart(
  settings: RecorderSettings,
  header: CastHeader,
  parts: RecorderParts,
): Promise<BegunPart> {
  const { files } = settings;
  try {
    await writeFile(files.writer, writerFacts(settings, header.title ?? null), { mode: 0o600, flag: 'wx' });
    const file = new PartFile(await (parts.open ?? openPart)(files.part));
    const line = headerLine(header);
    file.append(line);
    await file.flush();
    if (file.error !== undefined) {
      await file.close();
      throw file.error;
    }
    const places = await PlaceFile.open(files.place);
    const { size } = header;
    const pos = Buffer.byteLength(line);
    places.note({ pos, began: settings.startTime, time: { cast: 0, real: 0 }, size, redactions: 0 });
    const version = header.format === 'v3' ? 3 : 2;
    const timestamp = Math.floor(header.startTime / 1000);
    return { file, places, info: { version, size, timestamp, title: header.title, end: pos } };
  } catch (cause) {
    await discard(files);
    throw notWritable(files.directory, cause);
  }
}

/** Takes over the files of a recording whose process is gone, cut where it last knew its place; undefined if that is lost. */
export async function resumePart(settings: RecorderSettings, bytes: number): Promise<BegunPart | undefined> {
  const { files } = settings;
  const place = await readPlace(files.place, bytes);
  if (place === undefined) return undefined;
  const info = await readHeader(files.part);
  // Claimed before it is changed: from here on another process sees that its writer lives.
  const claim = `${files.writer}.tmp`;
  await removeFile(claim);
  await writeFile(claim, writerFacts(settings, settings.title), { mode: 0o600, flag: 'wx' });
  await rename(claim, files.writer);
  const handle = await reopenPart(files.part);
  try {
    await handle.truncate(place.pos);
    return {
      file: new PartFile(handle, place.pos),
      places: await PlaceFile.open(files.place, place.number),
      info,
      place,
    };
  } catch (thrown) {
    await handle.close().catch(() => {});
    throw thrown;
  }
}

function writerFacts(settings: RecorderSettings, title: string | null): string {
  const { recordingId, sessionId, mode, format, startTime, cols, rows, owner, instance, principal } = settings;
  const { idleTimeLimit, maxDuration, inactivityTimeout, input, markers, redact, term } = settings;
  const start: RecordingStart = {
    recordingId,
    sessionId,
    mode,
    format,
    startTime,
    cols,
    rows,
    title,
    ...(principal && { principal }),
    ...factsOfTerminal(settings),
  };
  const options = { idleTimeLimit, maxDuration, inactivityTimeout, input, markers, redact, term };
  const facts: WriterFacts = { ...start, writer: ownIdentity(), owner, options, ...(instance && { instance }) };
  return reserving(JSON.stringify(facts));
}

/** Recording starts without the first screen if it does not come in time. */
export async function firstFrame(source: RecordingSource): Promise<FirstFrame> {
  try {
    return await source.snapshot(AbortSignal.timeout(snapshotLimitMs));
  } catch {
    return { screen: '', pending: new Uint8Array(0) };
  }
}
