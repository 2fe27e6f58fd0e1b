import type { AuditNote } from '../engine/call/audit/note.ts';
import { launchLines } from '../policy/lines.ts';

/** What runs in a new terminal, and which variables it gets besides: their values are nobody's business. */
export function aboutLaunch({ env = {}, ...program }: Parameters<typeof launchLines>[0]): AuditNote {
  return { detail: launchLines(program).join('\n'), variables: Object.keys(env) };
}
