import { z } from 'zod';
import { operation, renderJson } from '../../engine/call/operation.ts';
import type { StartedRecording } from '../../engine/recording/recordings.ts';
import { SessionId } from './shared.ts';

const Mode = z.enum(['always', 'on-failure']);
const Format = z.enum(['v2', 'v3']);

const Started = z.object({
  recordingId: z.string(),
  path: z.string().describe('Where the recording will be after it stops'),
  format: Format,
  mode: Mode,
  maxDuration: z.number(),
  inactivityTimeout: z.number(),
  message: z.string(),
  sessionId: z.string(),
});

export const start = operation({
  mcpName: 'startRecording',
  title: 'Start a recording',
  summary: 'Record a session to an asciicast file that plays in asciinema. One recording per session at a time.',
  access: 'control',
  destructive: false,
  openWorld: false,
  keyed: true,
  input: z.object({
    format: Format.default('v2'),
    mode: Mode.default('always').describe('on-failure: keep only if something failed'),
    outputDir: z.string().min(1).max(4096).optional().describe('Directory for the file'),
    idleTimeLimit: z.number().min(0).max(3600).optional().describe('Longest pause in seconds (2)'),
    maxDuration: z.number().min(0).max(86_400).optional().describe('Seconds (3600); 0 = no limit'),
    inactivityTimeout: z.number().min(0).max(86_400).optional().describe('Silent seconds (600); 0 = no limit'),
    title: z.string().max(200).optional(),
    input: z.boolean().default(false).describe('Also what is typed, never passwords'),
    markers: z.boolean().default(false).describe('Mark each command'),
    redact: z.boolean().default(false).describe('Mask secrets'),
    snapshot: z.boolean().default(true).describe('Begin with the screen as it is'),
    all: z.boolean().default(false).describe('Every session, a file each'),
    sessionId: SessionId,
  }),
  output: Started.extend({
    recordings: z.array(Started).optional(),
    alreadyRecorded: z
      .array(z.object({ sessionId: z.string(), recordingId: z.string() }))
      .optional()
      .describe('Sessions left out because they are already recorded'),
  }),
  async run({ input, engine, caller, signal }) {
    const { all, sessionId, ...options } = input;
    if (!all) {
      const terminal = await engine.sessions.forReading(sessionId, caller, signal);
      return told(await engine.recordings.start(terminal, options));
    }
    await engine.sessions.forReading(undefined, caller, signal);
    const { recordings, alreadyRecorded } = await engine.recordings.startAll(engine.sessions.running(caller), options);
    const leftOut = alreadyRecorded.length === 0 ? {} : { alreadyRecorded: [...alreadyRecorded] };
    return { ...told(recordings[0]), recordings: recordings.map(told), ...leftOut };
  },
  render: ({ recordings, alreadyRecorded, ...one }) =>
    renderJson(alreadyRecorded === undefined ? (recordings ?? one) : { recordings, alreadyRecorded }),
});

function told({ stopReason, ...started }: StartedRecording): z.output<typeof Started> {
  const limit = started.maxDuration > 0 ? `, at the latest after ${started.maxDuration} s` : '';
  const message =
    stopReason === undefined
      ? `Recording. The file is complete when it is stopped${limit}.`
      : `The recording ended with its first frame (${stopReason}).`;
  return { ...started, message };
}

export const stop = operation({
  mcpName: 'stopRecording',
  title: 'Stop a recording',
  summary: 'Stop a recording and write its file.',
  access: 'control',
  destructive: false,
  openWorld: false,
  input: z.object({
    recordingId: z.string().min(1).max(64).describe('From startRecording'),
    failed: z.boolean().optional().describe('Keep an on-failure recording'),
  }),
  output: z.object({
    recordingId: z.string(),
    path: z.string(),
    durationMs: z.number(),
    bytesWritten: z.number().int(),
    saved: z.boolean(),
    mode: Mode,
    stopReason: z.string(),
    reason: z.string().optional().describe('Why it was not kept'),
    exitCode: z.number().int().nullable(),
    sessionId: z.string(),
  }),
  positional: ['recordingId'],
  run: async ({ input, engine }) => engine.recordings.stop(input.recordingId, { failed: input.failed ?? false }),
});
