import { shown } from '../visible.ts';

interface SeenBlock {
  readonly id: number;
  readonly command?: string | undefined;
  readonly endedAt?: number | undefined;
  readonly exitCode?: number | null | undefined;
}

/** What a screen reader says of commands: each that ends while the page is open, once. */
export class CommandEnds {
  #told: number | undefined;

  /** `Done: make test.` or `Failed: make test, exit 2.` if this is news. What had ended before the first look is none. */
  see(block: SeenBlock | undefined): string | undefined {
    const isFirst = this.#told === undefined;
    if (!block || block.endedAt === undefined) {
      this.#told ??= 0;
      return undefined;
    }
    const isTold = isFirst || block.id === this.#told;
    this.#told = block.id;
    if (isTold) return undefined;
    const command = shown(block.command ?? 'a command', 80);
    if (block.exitCode === 0) return `Done: ${command}.`;
    return typeof block.exitCode === 'number' ? `Failed: ${command}, exit ${block.exitCode}.` : `Ended: ${command}.`;
  }
}
