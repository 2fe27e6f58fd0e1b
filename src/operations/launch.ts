import type { AuditNote } from '../engine/call/audit/note.ts';
import { launchLines } from '../policy/lines.ts';

/** For the audit trail: what runs in a new terminal, and the names of its extra variables, never their values. */
export function aboutLaunch({ env = {}, ...program }: Parameters<typeof launchLines>[0]): AuditNote {
  return { detail: launchLines(program).join('\n'), variables: Object.keys(env) };
}
