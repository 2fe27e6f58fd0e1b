import { copyFileSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { FairleadError } from '../../contract/errors.ts';
import { quote } from '../../contract/quote.ts';
import { problemOf, refusal } from '../../system/files/json-problem.ts';
import { serviceKey } from '../call/service.ts';
import { readText, writePrivate } from '../../system/files/private-files.ts';
import { removeFileSync } from '../../system/files/remove-file.ts';

export const SavedSession = z.object({
  id: z.number().int(),
  title: z.string(),
  cwd: z.string(),
  /** On the machine of its target, not on this one. */
  cwd_is_remote: z.boolean().optional(),
  shell: z.string().optional(),
  cols: z.number().int().optional(),
  rows: z.number().int().optional(),
  env: z.array(z.string()).optional(),
  command: z.string().optional(),
  /** The title it was created with, which `title` need not be. */
  given_title: z.string().optional(),
  name: z.string().optional(),
  target: z.string().optional(),
  recording: z.boolean().optional(),
});
export type SavedSession = z.output<typeof SavedSession>;

export const Workspace = z.object({ name: z.string(), sessions: z.array(SavedSession), saved_at: z.string() });
export type Workspace = z.output<typeof Workspace>;

interface ListedWorkspace {
  readonly name: string;
  readonly path: string;
  readonly saved_at?: string;
  readonly session_count?: number;
  readonly error?: string;
}

/** Named layouts of sessions, a file each. */
export class Workspaces implements AsyncDisposable {
  readonly #folder: string;

  constructor(root: string) {
    this.#folder = join(root, 'workspaces');
  }

  save(workspace: Workspace): void {
    const path = this.#path(workspace.name);
    const before = readText(path);
    const damage = before === undefined ? undefined : problemOf(before, Workspace);
    // The version before it is the only good one.
    if (damage !== undefined) throw refusal(path, damage);
    if (before !== undefined) copyFileSync(path, `${path}.bak`);
    writePrivate(path, textOf(workspace));
  }

  /** The same for a workspace only we write: a file damaged by a power cut is replaced. The previous version stays. */
  replace(workspace: Workspace): void {
    if (this.find(workspace.name)) this.save(workspace);
    else writePrivate(this.#path(workspace.name), textOf(workspace));
  }

  load(name: string): Workspace {
    const text = readText(this.#path(name));
    if (text === undefined) {
      const [names] = [this.list().map((one) => one.name)];
      throw new FairleadError('not_found', `Workspace '${quote(name)}' not found`, {
        hint: names.length === 0 ? 'None has been saved.' : `Saved: ${names.join(', ')}.`,
      });
    }
    const parsed = parse(text);
    if (parsed) return { ...parsed, name };
    const where = problemOf(text, Workspace) ?? '';
    throw new FairleadError('invalid_input', `Workspace '${name}' cannot be read: its file is damaged, ${where}`, {
      hint: `The version before it is ${this.#path(name)}.bak, if there is one.`,
    });
  }

  /** The same, where there may be none, or none that can be read. */
  find(name: string): Workspace | undefined {
    const found = parse(readText(this.#path(name)) ?? '');
    return found && { ...found, name };
  }

  list(): ListedWorkspace[] {
    const files = existsSync(this.#folder) ? readdirSync(this.#folder).filter((file) => file.endsWith('.json')) : [];
    return files.sort().map((file) => {
      const path = join(this.#folder, file);
      const name = file.slice(0, -'.json'.length);
      const text = readText(path) ?? '';
      const found = parse(text);
      if (!found) return { name, path, error: `its file is damaged, ${problemOf(text, Workspace) ?? ''}` };
      return { name, path, saved_at: found.saved_at, session_count: found.sessions.length };
    });
  }

  delete(name: string): void {
    this.load(name);
    this.forget(name);
  }

  /** Deletes it, if it is there. */
  forget(name: string): void {
    for (const path of [this.#path(name), `${this.#path(name)}.bak`]) removeFileSync(path);
  }

  #path(name: string): string {
    if (/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$/.test(name)) return join(this.#folder, `${name}.json`);
    throw new FairleadError('invalid_input', `Invalid workspace name: ${name.slice(0, 80)}`, {
      hint: 'Use 1 to 64 letters, digits, dots, dashes and underscores, with no dot in front.',
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

const textOf = (workspace: Workspace): string => `${JSON.stringify(workspace, null, 2)}\n`;

function parse(text: string): Workspace | undefined {
  try {
    return Workspace.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

export const workspaces = serviceKey<Workspaces>('workspaces');
