import { readFileSync } from 'node:fs';
import { release, type } from 'node:os';

/** The system of this machine as its people call it: `Debian GNU/Linux 12 (bookworm)`; without such a name, of the kernel. */
export function osName(file = '/etc/os-release'): string {
  try {
    const line = /^PRETTY_NAME=(["']?)(.{1,100})\1$/m.exec(readFileSync(file, 'utf8'));
    if (line?.[2] !== undefined) return line[2];
  } catch {
    // Not a Linux, or a very small one.
  }
  return `${type()} ${release()}`;
}
