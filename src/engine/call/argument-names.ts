import { closest } from '../../lib/closest.ts';

/** Names that other tools have for the same thing. Of those that an operation takes, the first in a row is meant. */
const synonyms: readonly (readonly string[])[] = [
  ['command', 'cmd', 'commandline', 'shellcommand', 'script', 'bash', 'code'],
  ['terminal', 'sessionid', 'shellid', 'session', 'terminalid', 'id', 'pane', 'tab', 'window'],
  ['text', 'input', 'data', 'string', 'content', 'characters', 'chars', 'message'],
  ['keys', 'key', 'keystrokes', 'keystroke'],
  ['timeoutms', 'timeoutsecs', 'timeout', 'timeoutseconds', 'waitms', 'maxwaitms'],
  ['cwd', 'path', 'dir', 'directory', 'folder', 'workdir', 'workingdir', 'workingdirectory'],
  ['address', 'target', 'host', 'hostname', 'server', 'machine'],
  ['username', 'user', 'login'],
  ['pattern', 'text', 'query', 'search', 'needle'],
  ['regex', 'regexp', 'pattern'],
  ['maxbytes', 'maxoutputbytes', 'maxlines', 'maxchars', 'limit'],
  ['argv', 'args', 'arguments'],
  ['env', 'environment', 'variables'],
];

const plain = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, '');

/** The names that a caller may have meant by another: synonyms, and names spelled nearly the same. */
export function meantName(given: string, names: readonly string[]): string | undefined {
  const wanted = plain(given);
  const known = new Map(names.map((name) => [plain(name), name]));
  const same = known.get(wanted);
  if (same !== undefined) return same;
  for (const row of synonyms.filter((one) => one.includes(wanted))) {
    const meant = row.find((name) => known.has(name));
    if (meant !== undefined) return known.get(meant);
  }
  return closest(given, names, 1)[0];
}
