import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { serviceKey } from '../call/service.ts';

/** Programs that the person who started the server can run by name. */
export class ProgramsOnPath implements AsyncDisposable {
  readonly #folders: readonly string[];

  constructor(path: string | undefined) {
    this.#folders = (path ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
  }

  has(name: string): boolean {
    return this.#folders.some((folder) => isProgram(join(folder, name)));
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

export const programsOnPath = serviceKey<ProgramsOnPath>('programs to look for');
