import { z } from 'zod';
import type { SshSettings } from '../../transports/ssh/settings.ts';

/** What a caller may ask for, and how much of it is given: too little or too much is brought into range, never refused. */

export const Seconds = z.number().int().min(0);
export const MaxBytes = z.number().int().min(0).optional();
export const MaxItems = z.number().int().min(0).optional().describe('(500)');

/** The longest a call may wait (spec/remote.md section 7). */
const longestWaitSecs = 300;

const clamp = (value: number, low: number, high: number): number => Math.min(Math.max(value, low), high);

/** How long a call waits. */
export const waitMs = (seconds: number): number => clamp(seconds, 0, longestWaitSecs) * 1000;

/** How long a command may run that its caller waits for. */
export const runMs = (seconds: number): number => clamp(seconds, 1, longestWaitSecs) * 1000;

export const outputLimit = (asked: number | undefined, settings: SshSettings): number =>
  clamp(asked ?? settings.outputDefaultBytes, 1, settings.outputMaxBytes);

export const itemLimit = (asked: number | undefined, settings: SshSettings): number =>
  clamp(asked ?? settings.listDefaultItems, 1, settings.listMaxItems);
