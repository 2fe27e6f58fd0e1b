import { groupMembers, programName, sessionGroups } from '../../pty/proc.ts';

/** Names processes that outlived their terminals, for people who want to end them; empty if none did. */
export function survivors(leaders: readonly number[]): string {
  const left = leaders.flatMap((leader) => [...sessionGroups(leader)].flatMap(groupMembers)).map(Number);
  if (left.length === 0) return '';
  const named = left.slice(0, 10).map((pid) => `${pid} (${programName(pid) ?? '?'})`);
  const more = left.length > named.length ? ` and ${left.length - named.length} more` : '';
  return ` Still running without a terminal: ${named.join(', ')}${more}.`;
}
