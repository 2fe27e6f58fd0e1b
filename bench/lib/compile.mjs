import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Compiles bench/c/<name>.c once a run. */
export function compile(name, folder) {
  const program = join(folder, name);
  if (existsSync(program)) return program;
  const source = fileURLToPath(new URL(`../c/${name}.c`, import.meta.url));
  execFileSync('cc', ['-O2', '-D_GNU_SOURCE', '-o', program, source]);
  return program;
}
