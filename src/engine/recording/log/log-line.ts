/**
 * A raw log has one event per line: `unix_micros TAB event TAB base64`. `gap` counts bytes of output that could not be
 * recorded, `screen` says that a full-screen program has the screen as the recording begins, `people` who types and when the
 * terminal waits for a person (JSON). Readers skip events they do not know.
 */
const names = [
  'out',
  'in',
  'block_prompt',
  'block_input',
  'block_output',
  'block_exit',
  'resize',
  'cwd',
  'title',
  'gap',
  'screen',
  'people',
] as const;
export type LogEventName = (typeof names)[number];

export interface LogEvent {
  readonly micros: number;
  readonly name: LogEventName;
  readonly data: Buffer;
}

export function logLine(micros: number, name: LogEventName, data: Uint8Array | string = ''): string {
  const bytes =
    typeof data === 'string' ? Buffer.from(data) : Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  return `${micros}\t${name}\t${bytes.toString('base64')}\n`;
}

const shape = /^(\d{1,16})\t([a-z_]{1,32})\t([A-Za-z0-9+/]*={0,2})$/;

/** `malformed` for what is no line of a log, undefined for an event that is not known. */
export function parseLogLine(line: string): LogEvent | 'malformed' | undefined {
  const [, micros, name, data = ''] = shape.exec(line) ?? [];
  if (micros === undefined || data.length % 4 !== 0) return 'malformed';
  const known = names.find((one) => one === name);
  return known && { micros: Number(micros), name: known, data: Buffer.from(data, 'base64') };
}
