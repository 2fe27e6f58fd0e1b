import type { Engine } from '../engine.ts';
import type { Caller } from '../call/call.ts';
import { maySee } from '../call/principal.ts';
import { serviceKey } from '../call/service.ts';
import { PictureFolder } from '../picture/picture-folder.ts';
import type { SystemTools } from './system-tools.ts';
import type { Terminal } from '../terminal/terminal.ts';

export interface CopiedText {
  readonly text: string;
  /** By whom: a program in a session, with OSC 52, or a caller. */
  readonly source: 'osc52' | 'set';
  /** The number of the session. */
  readonly session?: number | undefined;
  readonly at: number;
  /** Whose it is; undefined: of all callers of the instance. */
  readonly owner: string | undefined;
}

/** Texts of so many owners are kept, one each: a few megabytes at most. The oldest goes first. */
const mostOwners = 16;
/** Characters of one text. What programs copy is bounded by the screen, at about as much. */
export const longestCopy = 1 << 20;

/**
 * The clipboard of an instance: what programs copied with OSC 52, or callers set, last. It is never sent to a program: an OSC 52
 * question stays unanswered.
 */
export class InstanceClipboard implements AsyncDisposable {
  readonly tools: SystemTools;
  /** Where pictures from the clipboard of the desktop are kept. */
  readonly folder: PictureFolder;
  readonly #texts = new Map<string | undefined, CopiedText>();

  constructor(dir: string, tools: SystemTools) {
    this.folder = new PictureFolder(dir);
    this.tools = tools;
  }

  /** Takes what programs in the terminals of this engine copy from now on. */
  listen(engine: Engine): void {
    engine.events.on((event) => {
      if (event.kind !== 'opened') return;
      const { terminal } = event;
      // Listeners end with the terminal.
      terminal.screen.events.on((copied) => {
        if (copied.type !== 'clipboard') return;
        const text = withoutSecrets(copied.text, terminal);
        const { number: session, owner } = terminal.identity;
        this.put({ text, source: 'osc52', session, at: engine.clock.now(), owner });
      });
    });
  }

  /** An empty text, which programs copy to erase theirs, takes the place of the one before. */
  put(copied: CopiedText): void {
    this.#texts.delete(copied.owner);
    if (copied.text !== '') this.#texts.set(copied.owner, copied);
    const [oldest] = this.#texts.keys();
    if (this.#texts.size > mostOwners) this.#texts.delete(oldest);
  }

  /** The newest text that this caller may see. */
  textFor(caller: Pick<Caller, 'principal'>): CopiedText | undefined {
    return [...this.#texts.values()].findLast((copied) => maySee(copied, caller));
  }

  /** Empties what this caller may see. */
  clear(caller: Pick<Caller, 'principal'>): void {
    for (const copied of this.#texts.values()) if (maySee(copied, caller)) this.#texts.delete(copied.owner);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#texts.clear();
  }
}

export const instanceClipboard = serviceKey<InstanceClipboard>('clipboard');

/** In base64, what the person typed as a secret passed the filter of the output. */
function withoutSecrets(text: string, { person }: Terminal): string {
  const { secrets } = person;
  if (!secrets.active) return text;
  return secrets.values.reduce((rest, value) => rest.replaceAll(Buffer.from(value).toString(), '•••'), text);
}
