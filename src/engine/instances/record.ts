import { z } from 'zod';
import { exists, startOf } from '../../system/process-identity.ts';

/** What an instance says of itself in its file. Clients of the reference read the first ten fields. */
export const InstanceRecord = z.looseObject({
  id: z.string().min(1),
  pid: z.number().int().positive(),
  started_at: z.string(),
  mcp_port: z.number().int(),
  http_port: z.number().int(),
  auth_token: z.string(),
  title: z.string().nullable(),
  cwd: z.string(),
  version: z.string(),
  platform: z.string(),
  arch: z.string().optional(),
  /** Start time of the process: tells a reused pid from the original process. */
  pid_start: z.string().optional(),
});
export type InstanceRecord = Readonly<z.output<typeof InstanceRecord>>;

export function parseRecord(text: string): InstanceRecord | undefined {
  try {
    return InstanceRecord.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** Whether the process that wrote it still runs. */
export function isLive({ pid, pid_start }: Pick<InstanceRecord, 'pid' | 'pid_start'>): boolean {
  if (!exists(pid)) return false;
  const start = startOf(pid);
  return start === undefined || pid_start === undefined || start === pid_start;
}

const platforms: Readonly<Record<string, string>> = { darwin: 'macos', win32: 'windows' };
const architectures: Readonly<Record<string, string>> = { x64: 'x86_64', arm64: 'aarch64', ia32: 'x86' };

/** The reference's names for Node's values. */
export const platformName = (): string => platforms[process.platform] ?? process.platform;
export const architectureName = (): string => architectures[process.arch] ?? process.arch;
