import { constants } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { writeWhole } from './directory.ts';
import type { RecordingMetadata } from './metadata.ts';
import type { RecordingFiles } from './names.ts';
import { removeFile } from '../../system/files/remove-file.ts';

/** Size reserved for the writer's file, so that a full disk still has room for the metadata. */
const reserved = 16 << 10;

/** JSON padded with blanks to the size of what may replace it. */
export const reserving = (json: string): string => json.padEnd(reserved);

export async function discard(files: RecordingFiles): Promise<void> {
  const paths = [files.part, files.writer, files.metadata, files.place, files.partKeys];
  await Promise.all(paths.map((path) => removeFile(path).catch(() => {})));
}

/** Gives a recording its final names. Returns why there is no cast, or undefined. */
export async function keep(files: RecordingFiles, metadata: RecordingMetadata): Promise<string | undefined> {
  try {
    await writeWhole(files.metadata, `${files.writer}.tmp`, `${JSON.stringify(metadata, null, 2)}\n`);
  } catch {
    // Without room even in the existing file, the cast is kept all the same.
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
  await nameKeys(files);
  await Promise.all([files.writer, files.place].map((path) => removeFile(path).catch(() => {})));
  return undefined;
}

/** Keyframes follow their cast. Without them nothing is lost: they are made from the cast again. */
export async function nameKeys({ partKeys, keys }: RecordingFiles): Promise<void> {
  await rename(partKeys, keys).catch(() => {});
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
