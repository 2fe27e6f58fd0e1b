import { constants } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { writeWhole } from './directory.ts';
import type { RecordingMetadata } from './metadata.ts';
import type { RecordingFiles } from './names.ts';
import { removeFile } from '../../system/files/remove-file.ts';

/** What the writer's file takes from the start: a full disk still has this much for the metadata. */
const reserved = 16 << 10;

/** JSON made as long as what may have to be written over it. Blanks at its end mean nothing. */
export const reserving = (json: string): string => json.padEnd(reserved);

export async function discard(files: RecordingFiles): Promise<void> {
  const paths = [files.part, files.writer, files.metadata];
  await Promise.all(paths.map((path) => removeFile(path).catch(() => {})));
}

/** Gives a recording its final names. Undefined when that went well, else why there is no cast. */
export async function keep(files: RecordingFiles, metadata: RecordingMetadata): Promise<string | undefined> {
  try {
    await writeWhole(files.metadata, `${files.writer}.tmp`, `${JSON.stringify(metadata, null, 2)}\n`);
  } catch {
    // A disk with no room even in the file that is there already still keeps the cast.
    await writeOver(files, metadata).catch(() => {});
  }
  try {
    await rename(files.part, files.cast);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT') {
      return `The cast could not get its name (${(thrown as Error).message}); it is in ${files.part}.`;
    }
    await discard(files);
    return `The file of the recording is gone: ${files.part} was removed or moved while it was written.`;
  }
  await removeFile(files.writer).catch(() => {});
  return undefined;
}

/** The writer's file becomes the metadata, in the room it has. Commands that do not fit are left out, the last ones first. */
async function writeOver(files: RecordingFiles, metadata: RecordingMetadata): Promise<void> {
  const commands = [...metadata.commands];
  let bytes = Buffer.from(JSON.stringify(metadata));
  while (bytes.length > reserved && commands.length > 0) {
    commands.length >>= 1;
    bytes = Buffer.from(JSON.stringify({ ...metadata, commands }));
  }
  const handle = await open(files.writer, constants.O_RDWR | constants.O_NOFOLLOW);
  try {
    await handle.write(bytes, 0, bytes.length, 0);
    await handle.truncate(bytes.length);
  } finally {
    await handle.close();
  }
  await rename(files.writer, files.metadata);
}
