import { z } from 'zod';
import { operation } from '../../engine/call/operation.ts';
import { answered } from '../../engine/waiting/answered.ts';
import { TerminalInput } from './shared.ts';

/** Clients downscale wider pictures, and text blurs. */
const widest = 1300;

export const screenshot = operation({
  title: 'Take a picture',
  summary: 'A PNG picture of the screen.',
  access: 'observe',
  pictures: true,
  input: z.strictObject({
    terminal: TerminalInput,
    theme: z.enum(['standard', 'midnight', 'daylight', 'classic']).optional(),
    scale: z.number().int().min(1).max(4).optional().describe(`Default: 2 up to ${widest} pixels wide, else 1`),
    chrome: z.boolean().optional().describe('Window frame'),
  }),
  output: z.object({
    terminal: z.string(),
    path: z.string(),
    width: z.number().int(),
    height: z.number().int(),
    sizeBytes: z.number().int(),
    bytes: z.custom<Uint8Array>((value) => value instanceof Uint8Array),
  }),
  async run({ input, engine, caller, signal }) {
    const terminal = await engine.sessions.forReading(input.terminal, caller, signal);
    await answered(terminal, signal);
    return { terminal: terminal.id, ...(await engine.pictures.take(terminal, { widest, ...input }, signal)) };
  },
  render: ({ terminal, bytes, width, height, sizeBytes, path }) => [
    { type: 'image', bytes, mimeType: 'image/png' },
    { type: 'text', text: `PNG ${width}x${height}, ${sizeBytes} bytes, of terminal ${terminal}: ${path}` },
  ],
});

const Recording = z.object({ recordingId: z.string(), path: z.string(), terminal: z.string() });

export const record = operation({
  title: 'Record a terminal',
  summary: 'Record a terminal to an asciicast: start, stop, or status of what is being recorded.',
  access: 'control',
  destructive: false,
  openWorld: false,
  input: z.strictObject({
    action: z.enum(['start', 'stop', 'status']),
    terminal: TerminalInput,
    title: z.string().max(200).optional(),
    redact: z.boolean().default(false).describe('Mask secrets'),
    onFailure: z.boolean().default(false).describe('Keep it only if something failed'),
  }),
  output: z.object({
    recordings: z.array(Recording),
    saved: z.boolean().optional(),
    durationMs: z.number().optional(),
    stopReason: z.string().optional(),
  }),
  positional: ['action'],
  async run({ input, engine, caller, signal }) {
    if (input.action === 'status') {
      const active = engine.recordings.active;
      return {
        recordings: active.map(({ recordingId, path, sessionId }) => ({ recordingId, path, terminal: sessionId })),
      };
    }
    const terminal = await engine.sessions.forReading(input.terminal, caller, signal);
    if (input.action === 'start') {
      const { recordingId, path } = await engine.recordings.start(terminal, {
        title: input.title,
        redact: input.redact,
        markers: true,
        mode: input.onFailure ? 'on-failure' : 'always',
      });
      return { recordings: [{ recordingId, path, terminal: terminal.id }] };
    }
    const { recordingId, path, saved, durationMs, stopReason } = await engine.recordings.stopOf(terminal.id);
    return { recordings: [{ recordingId, path, terminal: terminal.id }], saved, durationMs, stopReason };
  },
  render({ recordings, saved, durationMs, stopReason }) {
    if (recordings.length === 0) return 'Nothing is being recorded.';
    const words = recordings
      .map(({ recordingId, path, terminal }) => `${terminal}  ${recordingId}  ${path}`)
      .join('\n');
    if (durationMs === undefined) return `Recording\n${words}`;
    const kept = saved === false ? 'nothing failed, so it was not kept' : 'saved';
    return `Stopped after ${(durationMs / 1000).toFixed(1)} s (${stopReason}), ${kept}\n${words}`;
  },
});
