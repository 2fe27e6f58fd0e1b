import { z } from 'zod';
import { readText, writePrivate } from '../../system/files/private-files.ts';
import { removeFileSync } from '../../system/files/remove-file.ts';

const Mark = z.object({ by: z.string(), at: z.number() });
const Ordered = Mark.extend({ order: z.number().int() });

const Saved = z.object({
  order: z.number().int(),
  all: Ordered.optional(),
  /** Those about which a person decided something. */
  conversations: z.array(
    z.object({
      id: z.string(),
      principal: z.string(),
      agent: z.string(),
      origin: z.enum(['mcp', 'rpc', 'http', 'cli']),
      pause: Ordered.optional(),
      resumed: z.number().int(),
      revoked: Mark.optional(),
    }),
  ),
  /** Calls that wait: their arguments are not kept, so that they can only be dropped. */
  held: z.array(
    z.object({
      call: z.string(),
      conversation: z.string(),
      agent: z.string(),
      origin: z.enum(['mcp', 'rpc', 'http', 'cli']),
      op: z.string(),
      access: z.enum(['observe', 'control', 'open', 'administer']),
      preview: z.string(),
      since: z.number(),
      terminal: z.string().optional(),
    }),
  ),
});
export type SavedPause = z.output<typeof Saved>;

/** What a person decided about agents, for the next server: a restart must not let go what was paused. */
export class PauseFile {
  readonly #path: string;
  readonly #warn: (message: string) => void;
  #written: string | undefined;
  #hasFailed = false;

  constructor(path: string, warn: (message: string) => void) {
    this.#path = path;
    this.#warn = warn;
  }

  /** Undefined: nothing was paused. Throws when that cannot be told. */
  load(): SavedPause | undefined {
    const text = readText(this.#path);
    this.#written = text;
    return text === undefined ? undefined : Saved.parse(JSON.parse(text));
  }

  save(saved: SavedPause): void {
    const isPlain = !saved.all && saved.conversations.length === 0 && saved.held.length === 0;
    const text = isPlain ? '' : JSON.stringify(saved);
    if (text === (this.#written ?? '')) return;
    try {
      if (isPlain) removeFileSync(this.#path);
      else writePrivate(this.#path, text);
      this.#written = text;
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed) this.#warn(`The pause of agents cannot be saved: ${(error as Error).message}`);
      this.#hasFailed = true;
    }
  }
}
