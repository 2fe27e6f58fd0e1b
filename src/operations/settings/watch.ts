import { z } from 'zod';
import { stream } from '../../engine/call/operation.ts';
import { personSettings } from '../../engine/settings/settings.ts';
import { onAbort } from '../../system/on-abort.ts';
import { FileError } from '../file-error.ts';

const File = z.object({
  name: z.string().describe('The setting: theme, policy, …'),
  file: z.string().describe('Its file in the state folder'),
  changed_at: z.string().optional().describe('Its newest change since the server began'),
  by_hand: z.boolean().describe('That change was made by an editor or another process'),
  error: FileError,
});

export const watch = stream({
  title: 'Watch the settings files',
  summary: 'Watch the settings files: all of them at first, and again when one is written, edited or cannot be read.',
  access: 'observe',
  input: z.strictObject({}),
  item: z.object({ files: z.array(File) }),
  async *run({ engine, signal }) {
    const settings = engine.service(personSettings);
    let isNew = true;
    let wake = (): void => {};
    using _files = settings.fileChanged.on(() => {
      isNew = true;
      wake();
    });
    using _end = onAbort(signal, () => wake());
    while (!signal.aborted) {
      if (isNew) {
        isNew = false;
        yield {
          files: settings.files.map(({ changedAt, byHand, ...file }) => ({
            ...file,
            by_hand: byHand,
            ...(changedAt !== undefined && { changed_at: new Date(changedAt).toISOString() }),
          })),
        };
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  },
  render: ({ files }) =>
    files
      .filter(({ changed_at, error }) => changed_at !== undefined || error !== undefined)
      .map(({ file, changed_at, by_hand, error }) =>
        [file, ...(changed_at === undefined ? [] : [`${by_hand ? 'edited' : 'written'} ${changed_at}`]), error ?? '']
          .join('  ')
          .trimEnd(),
      )
      .join('\n')
      .concat('\n'),
});
