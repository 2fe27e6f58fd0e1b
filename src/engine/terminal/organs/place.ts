import type { Blocks } from '../blocks.ts';
import type { ProcessView } from '../channel.ts';
import { isThisMachine } from '../machine-name.ts';

/** Where the program in a terminal works. */
export class TerminalPlace {
  readonly #blocks: Blocks;
  readonly #process: ProcessView | undefined;

  constructor(blocks: Blocks, process: ProcessView | undefined) {
    this.#blocks = blocks;
    this.#process = process;
  }

  /** What the program told us, else what the machine shows. */
  get cwd(): string | undefined {
    return this.#blocks.cwd ?? this.#process?.cwd();
  }

  /** That directory is one of this machine: a shell over ssh or in a container tells a path of its own. */
  get isHere(): boolean {
    // Before our shell has spoken up with the nonce, its startup files may have led anywhere.
    const isOurs = this.#blocks.marked && this.#blocks.shell !== undefined;
    return this.#process !== undefined && isThisMachine(this.#blocks.cwdHost, isOurs);
  }

  /** A directory of this machine in any case, if there is one. */
  get localCwd(): string | undefined {
    return this.isHere ? this.cwd : this.#process?.cwd();
  }
}
