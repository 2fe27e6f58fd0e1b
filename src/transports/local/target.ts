import { accessSync, constants, type Stats, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { FairleadError } from '../../contract/errors.ts';
import type { Size } from '../../engine/terminal/channel.ts';

/** What to run, in full: nothing is added from our own environment. */
export interface LocalTarget {
  readonly argv: readonly [string, ...string[]];
  readonly cwd?: string;
  readonly env: Readonly<Record<string, string>>;
}

export function checkTarget({ argv, cwd, env }: LocalTarget, size: Size): void {
  if (argv[0] === '')
    throw new FairleadError('invalid_input', 'No program was named.', { hint: 'Give a path or name.' });
  const strings = [...argv, cwd ?? '', ...Object.keys(env), ...Object.values(env)];
  if (strings.some((text) => text.includes('\0'))) {
    throw new FairleadError('invalid_input', 'An argument, the directory or the environment contains a NUL byte.', {
      hint: 'Remove it: no program can receive one.',
    });
  }
  checkSize(size);
}

export function checkSize({ cols, rows }: Size): void {
  const fits = (cells: number): boolean => Number.isInteger(cells) && cells >= 1 && cells <= 0xffff;
  if (fits(cols) && fits(rows)) return;
  throw new FairleadError('invalid_input', `A terminal cannot be ${cols} columns by ${rows} rows.`, {
    hint: 'Use whole numbers from 1 to 65535.',
  });
}

/** The file that would run, found in the `PATH` the program itself will see. A name found nowhere stays as it is. */
export function resolveProgram({ argv: [name], cwd, env }: LocalTarget): string {
  if (name.includes('/')) return cwd === undefined ? name : resolve(cwd, name);
  for (const folder of (env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin').split(delimiter)) {
    const file = resolve(cwd ?? '.', join(folder, name));
    if (isProgram(file)) return file;
  }
  return name;
}

export function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
  } catch {
    return false;
  }
  return look(file)?.isFile() ?? false;
}

export function isFolder(path: string): boolean {
  return look(path)?.isDirectory() ?? false;
}

function look(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** Why a target could not be started, from the error's name and a look at what is there. */
export function launchError(target: LocalTarget, program: string, code: string, cause?: unknown): FairleadError {
  const { argv, cwd } = target;
  const extras = { data: { program, cwd, code }, cause };
  const folder = cwd === undefined ? undefined : look(cwd);
  if (cwd !== undefined && !folder?.isDirectory()) {
    const what = folder === undefined ? 'does not exist' : 'is not a directory';
    const hint = 'Name an existing directory as cwd.';
    return new FairleadError('invalid_input', `The working directory ${cwd} ${what}.`, { ...extras, hint });
  }
  const file = program.includes('/') ? look(program) : undefined;
  if (file === undefined) {
    const hint = program.includes('/') ? 'Check the path.' : 'Check the spelling and PATH, or give the full path.';
    return new FairleadError('invalid_input', `Program not found: ${argv[0]}.`, { ...extras, hint });
  }
  if (!isProgram(program)) {
    const hint = 'Name a program, or make the file executable with chmod +x.';
    return new FairleadError('invalid_input', `${program} is not an executable file.`, { ...extras, hint });
  }
  switch (code) {
    case 'E2BIG':
      return new FairleadError('too_large', `The arguments and environment for ${argv[0]} are too large.`, {
        ...extras,
        hint: 'Shorten them, or pass the data through a file.',
      });
    case 'EAGAIN':
    case 'ENOMEM':
      return new FairleadError('limit_reached', `The system cannot start another process (${code}).`, {
        ...extras,
        hint: 'Close terminals that are no longer needed.',
      });
    default:
      return new FairleadError('invalid_input', `${program} could not be started (${code}).`, {
        ...extras,
        hint: 'Check that it is a program for this machine and that its interpreter exists.',
      });
  }
}
