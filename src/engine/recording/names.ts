import { basename, dirname, join } from 'node:path';

/** The files of one recording. Hidden while it goes on. */
export interface RecordingFiles {
  readonly directory: string;
  readonly name: string;
  readonly cast: string;
  readonly metadata: string;
  readonly part: string;
  /** Who writes the part file, and what is known of the recording. */
  readonly writer: string;
  /** How far the part file has come: see PlaceFile. */
  readonly place: string;
  /** Keyframes of the cast, and of the part file. */
  readonly keys: string;
  readonly partKeys: string;
}

export function recordingFiles(directory: string, name: string): RecordingFiles {
  return {
    directory,
    name,
    cast: join(directory, `${name}.cast`),
    metadata: join(directory, `${name}.meta.json`),
    part: join(directory, `.${name}.cast.part`),
    writer: join(directory, `.${name}.writer.json`),
    place: join(directory, `.${name}.place`),
    keys: join(directory, `${name}.cast.keys`),
    partKeys: join(directory, `.${name}.cast.keys`),
  };
}

export function recordingName(startTime: number, id: string): string {
  return `terminal-${startTime}-${id}`;
}

/** The recording a cast or part file belongs to; undefined for any other file. */
export function recordingFilesOf(path: string): (RecordingFiles & { readonly finished: boolean }) | undefined {
  const part = /^\.(.+)\.cast\.part$/.exec(basename(path));
  const cast = /^([^.].*)\.cast$/.exec(basename(path));
  const name = part?.[1] ?? cast?.[1];
  return name === undefined ? undefined : { ...recordingFiles(dirname(path), name), finished: part === null };
}

/** Start time and id, where the name is one of ours. */
export function nameFacts(name: string): { readonly startTime?: number; readonly id: string } {
  const match = /^terminal-(\d{1,15})-([0-9a-f]{16})$/.exec(name);
  return match === null ? { id: name } : { startTime: Number(match[1]), id: match[2] as string };
}
