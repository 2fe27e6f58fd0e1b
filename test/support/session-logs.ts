import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../src/lib/clock.ts';
import { systemClock } from '../../src/system/clock.ts';
import { type LogEvent, parseLogLine } from '../../src/engine/recording/log/log-line.ts';
import { SessionLogs, type SessionLogsOptions } from '../../src/engine/recording/log/session-logs.ts';
import { RecordingSettings, type RecordingSettingsFile } from '../../src/engine/recording/log/settings.ts';
import { Redactor } from '../../src/engine/redaction/redactor.ts';

/** A state root for tests, and the session logs of one process after another in it. */
export class LogRoot implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'fairlead-logs-'));
  readonly clock: Clock;
  readonly said: string[] = [];

  constructor(clock: Clock = systemClock) {
    this.clock = clock;
  }

  open(parts: SessionLogsOptions['parts'] = {}): SessionLogs {
    const { path: root, clock } = this;
    const log = (line: string): void => void this.said.push(line);
    const settings = new RecordingSettings({ root, clock, warn: log });
    const redactor = new Redactor({ key: Buffer.alloc(32) });
    const usual = { freeBytes: async () => 1e12, ...parts };
    return new SessionLogs({
      root,
      home: root,
      version: '9',
      settings,
      redactor: () => redactor,
      clock,
      log,
      parts: usual,
    });
  }

  configure(logs: SessionLogs, change: Partial<RecordingSettingsFile>): void {
    logs.settings.update((now) => ({ ...now, ...change }));
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** The events of a log, each line of which must be one. */
export function logEvents(text: string): LogEvent[] {
  const lines = text.split('\n');
  if (lines.pop() !== '') throw new Error('The last line is torn.');
  return lines.map((line) => {
    const event = parseLogLine(line);
    if (event === undefined || event === 'malformed') throw new Error(`No event: ${line}`);
    return event;
  });
}

/** The output in a log. */
export const outputOf = (text: string): string =>
  Buffer.concat(logEvents(text).flatMap(({ name, data }) => (name === 'out' ? [data] : []))).toString();
