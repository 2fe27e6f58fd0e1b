import type { SavedSession, Workspace } from './workspaces.ts';

/** One session of a workspace, as a restore would create it. */
export interface PlannedSession {
  readonly saved_id: number;
  readonly name?: string;
  readonly title: string;
  readonly target: string;
  /** Where it would start. */
  readonly cwd?: string;
  /** The directory it had, if that is gone. */
  readonly missing_cwd?: string;
  readonly shell?: string;
  /** What it was started with. */
  readonly command?: string;
  readonly runs: boolean;
  /** Why the policy would refuse it, and with it the whole restore. */
  readonly refused?: string;
  /** Numbers of open sessions that are the same: this name, or this place and program. */
  readonly open: number[];
}

/** An open session that a workspace does not hold. */
export interface UnsavedSession {
  readonly id: number;
  readonly name?: string;
  readonly title: string;
  readonly target: string;
  readonly cwd?: string;
}

interface PlanParts {
  readonly isRunning: boolean;
  /** The directory, or the nearest one above it that exists. */
  readonly nearest: (path: string) => string | undefined;
  /** Why the policy would refuse these; undefined when it would not. */
  readonly refusal: (saved: SavedSession) => string | undefined;
}

/** What a restore would do, compared with what is open now. */
export function restorePlan(
  { sessions }: Workspace,
  open: readonly SavedSession[],
  { isRunning, nearest, refusal }: PlanParts,
): { readonly plan: PlannedSession[]; readonly not_saved: UnsavedSession[] } {
  const plan = sessions.map((saved): PlannedSession => {
    const { id, name, title, target = 'local', shell, command, cwd: was } = saved;
    const cwd = saved.cwd_is_remote === true ? was : nearest(was);
    const refused = refusal(saved);
    return {
      saved_id: id,
      ...(name !== undefined && { name }),
      title: saved.given_title ?? title,
      target,
      ...(cwd !== undefined && cwd !== '' && { cwd }),
      ...(cwd !== was && was !== '' && { missing_cwd: was }),
      ...(shell !== undefined && { shell }),
      ...(command !== undefined && { command }),
      runs: command !== undefined && isRunning,
      ...(refused !== undefined && { refused }),
      open: open.filter((one) => isSame(one, saved)).map((one) => one.id),
    };
  });
  const not_saved = open
    .filter((one) => !sessions.some((saved) => isSame(one, saved)))
    .map(({ id, name, title, target = 'local', cwd }) => ({
      id,
      ...(name !== undefined && { name }),
      title,
      target,
      ...(cwd !== '' && { cwd }),
    }));
  return { plan, not_saved };
}

function isSame(one: SavedSession, other: SavedSession): boolean {
  if (one.name !== undefined || other.name !== undefined) return one.name === other.name;
  const place = ({ target = 'local', cwd, shell, command }: SavedSession): string =>
    JSON.stringify([target, cwd, shell, command]);
  return place(one) === place(other);
}
