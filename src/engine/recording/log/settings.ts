import { join } from 'node:path';
import { z } from 'zod';
import type { Clock } from '../../../lib/clock.ts';
import { StateFile, type WatchedFile } from '../../../system/files/state-file.ts';

const mostPatterns = 100;

/** `recording.json`. */
export const RecordingSettingsFile = z.object({
  recording: z
    .object({ enabled: z.boolean().default(false).describe('Record every new session') })
    .prefault({})
    .describe('What is recorded without being asked for'),
  redaction: z
    .object({
      enabled: z.boolean().default(true).describe('Mask secrets in the markdown'),
      custom_patterns: z
        .array(z.string().min(1).max(1000))
        .max(mostPatterns)
        .default([])
        .describe('Regular expressions of more secrets'),
    })
    .prefault({})
    .describe('How secrets are masked'),
  idle_rotate_minutes: z
    .number()
    .min(0)
    .max(1440)
    .default(5)
    .describe('Begin another recording after so long without output; 0 means never'),
  keep_raw: z.boolean().default(true).describe('Keep the raw log once the markdown is written'),
  retain_days: z.number().min(0).max(36_500).default(0).describe('Remove recordings after so many days; 0 means never'),
});
export type RecordingSettingsFile = z.output<typeof RecordingSettingsFile>;

/** What the person wants of recordings: read when it is needed, so that an edit counts at once. */
export class RecordingSettings {
  readonly #file: StateFile<typeof RecordingSettingsFile>;

  constructor({ root, clock, warn }: { root: string; clock: Clock; warn: (message: string) => void }) {
    this.#file = new StateFile({ path: join(root, 'recording.json'), schema: RecordingSettingsFile, clock, warn });
  }

  get(): RecordingSettingsFile {
    return this.#file.get();
  }

  get file(): WatchedFile {
    return this.#file;
  }

  /** What is wrong with the file, and where; undefined if nothing is. */
  get problem(): string | undefined {
    return this.#file.complaint;
  }

  update(change: (now: RecordingSettingsFile) => z.input<typeof RecordingSettingsFile>): RecordingSettingsFile {
    return this.#file.update(change);
  }
}
