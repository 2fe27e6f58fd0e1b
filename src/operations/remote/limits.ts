import { z } from 'zod';
import type { SshSettings } from '../../transports/ssh/settings.ts';

/** Limits of what a caller asks for: values out of range are clamped, never refused. */

/** Optional. If omitted, a setting applies; the schema shows the documented default of that setting. */
export const usually = <T extends z.ZodType>(schema: T, value: number | string | boolean): z.ZodOptional<T> =>
  schema.optional().meta({ default: value });

/** 0 or more. Left out of the schema, because a schema costs tokens in every conversation. */
const Count = z
  .number()
  .int()
  .refine((number) => number >= 0, 'must be 0 or more');
export const Seconds = Count;
export const ShellMaxBytes = usually(Count, 16_384);
export const MaxItems = usually(Count, 500).describe('(500)');

/** The longest a call may wait (docs/requirements/remote.md section 7). */
const longestWaitSecs = 300;

const clamp = (value: number, low: number, high: number): number => Math.min(Math.max(value, low), high);

/** How long a call waits. */
export const waitMs = (seconds: number): number => clamp(seconds, 0, longestWaitSecs) * 1000;

/** How long an awaited command may run. */
export const runMs = (seconds: number): number => clamp(seconds, 1, longestWaitSecs) * 1000;

export const outputLimit = (asked: number | undefined, settings: SshSettings): number =>
  clamp(asked ?? settings.outputDefaultBytes, 1, settings.outputMaxBytes);

export const itemLimit = (asked: number | undefined, settings: SshSettings): number =>
  clamp(asked ?? settings.listDefaultItems, 1, settings.listMaxItems);
