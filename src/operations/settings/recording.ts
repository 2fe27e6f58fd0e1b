import { z } from 'zod';
import { operation } from '../../engine/call/operation.ts';
import { type RecordingSettings, RecordingSettingsFile } from '../../engine/recording/log/settings.ts';
import { FileError, fileError } from '../file-error.ts';
import { logsOf } from '../session/recording.ts';

const Recording = RecordingSettingsFile.extend({ error: FileError });

const recordingOf = (settings: RecordingSettings): z.output<typeof Recording> => ({
  ...settings.get(),
  ...fileError(settings.problem),
});

export const getRecording = operation({
  title: 'Recording settings',
  cliDefault: true,
  summary: 'What is recorded without being asked for, how secrets are masked, and how long recordings stay.',
  access: 'observe',
  http: [{ method: 'GET', path: '/api/settings/recording' }],
  input: z.strictObject({}),
  output: Recording,
  run: async ({ engine }) => recordingOf(logsOf(engine).settings),
});

const { recording, redaction, idle_rotate_minutes, keep_raw, retain_days } = RecordingSettingsFile.shape;
const { enabled } = recording.unwrap().shape;
const { enabled: masks, custom_patterns } = redaction.unwrap().shape;

export const setRecording = operation({
  title: 'Change the recording settings',
  summary:
    'Change what is recorded, how secrets are masked, and how long recordings stay. What is left out stays as it is.',
  access: 'administer',
  // Recordings may be removed sooner.
  destructive: true,
  idempotent: true,
  openWorld: false,
  http: [{ method: 'PUT', path: '/api/settings/recording' }],
  input: z.strictObject({
    recording: z
      .strictObject({ enabled: enabled.removeDefault().optional() })
      .optional()
      .describe('enabled: record every new session'),
    redaction: z
      .strictObject({
        enabled: masks.removeDefault().optional(),
        custom_patterns: custom_patterns.removeDefault().optional(),
      })
      .optional()
      .describe('enabled: mask secrets; custom_patterns: more of them, as regular expressions'),
    idle_rotate_minutes: idle_rotate_minutes
      .removeDefault()
      .optional()
      .describe('Quiet minutes before a new log begins'),
    keep_raw: keep_raw.removeDefault().optional().describe('Keep the raw log beside the markdown'),
    retain_days: retain_days.removeDefault().optional().describe('Days a log is kept; 0: for ever'),
  }),
  output: Recording,
  about: (input) => ({ detail: Object.keys(input).join(', ') }),
  async run({ input, engine }) {
    const { settings } = logsOf(engine);
    settings.update((now) => ({
      ...now,
      ...given(input),
      recording: { ...now.recording, ...given(input.recording ?? {}) },
      redaction: { ...now.redaction, ...given(input.redaction ?? {}) },
    }));
    return recordingOf(settings);
  },
});

const given = <T extends object>(fields: T): T =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;

const mostText = 64 << 10;

const tryPatterns = operation({
  title: 'Try the masking of secrets',
  summary: 'Mask the secrets in a text as a recording would, with patterns that are not saved. Keeps nothing.',
  access: 'observe',
  input: z.strictObject({
    text: z.string().max(mostText).describe('What a program might print'),
    custom_patterns: custom_patterns
      .removeDefault()
      .optional()
      .describe('Regular expressions to try. Omit to use the saved ones'),
  }),
  output: z.object({
    text: z.string().describe('The text with its secrets masked'),
    count: z.number().int().describe('How many were masked'),
    problems: z.array(z.string()).describe('Patterns that cannot be used, and why'),
  }),
  positional: ['text'],
  lastTakesRest: true,
  async run({ input, engine }) {
    const logs = logsOf(engine);
    const redactor = logs.redactorWith(input.custom_patterns ?? logs.settings.get().redaction.custom_patterns);
    const { text, count } = redactor.redactText(input.text);
    return { text, count, problems: [...redactor.problems] };
  },
  render: ({ text, count, problems }) =>
    [text, `${count} ${count === 1 ? 'secret is' : 'secrets are'} masked.`, ...problems].join('\n'),
});
export { tryPatterns as try };
