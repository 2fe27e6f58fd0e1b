import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Ends the tmux servers of rows that broke before they could do it themselves. */
export function endLeftovers(folder) {
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.pid'))) {
    const pid = Number(readFileSync(join(folder, file), 'utf8'));
    if (isTmux(pid)) process.kill(pid, 'SIGKILL');
  }
}

/** A process id may have gone to somebody else since. */
export function isTmux(pid) {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('tmux');
  } catch {
    return false;
  }
}
