import { feed } from '../feed.svelte.ts';
import type { Blocks, ReadText } from '../shapes.ts';
import type { TerminalPage } from './page.svelte.ts';

export type Block = Blocks['blocks'][number];

/** The commands of one terminal: all once, then only what is new. */
export class BlockStore {
  readonly #page: TerminalPage;
  list = $state.raw<readonly Block[]>([]);
  /** Undefined before the first answer. */
  isMarked = $state<boolean>();
  /** Without marks: who typed when. */
  typed = $state.raw<NonNullable<Blocks['typed']>>([]);
  selected = $state<number>();
  #asking = false;
  #again = false;

  constructor(page: TerminalPage) {
    this.#page = page;
    page.stepBlock = (by) => this.step(by);
  }

  /** Changes whenever a command begins or ends; an effect that reads it calls `load`. */
  get newest(): string {
    const { block, state } = this.#page.terminal ?? {};
    return `${block?.id} ${block?.endedAt} ${state} ${feed.link}`;
  }

  load(): void {
    this.#again = true;
    if (this.#asking || feed.link !== 'live') return;
    this.#asking = true;
    void (async () => {
      while (this.#again) {
        this.#again = false;
        // The last that is known may have ended since.
        const from = this.list.find(({ isOver }) => !isOver)?.id ?? this.list.at(-1)?.id;
        const input = { session: this.#page.id, ...(from !== undefined && { from }) };
        const found = await feed.live?.call<Blocks>('person.blocks', input).catch(() => undefined);
        if (!found) break;
        this.isMarked = found.marked;
        this.typed = found.typed ?? [];
        const kept = from === undefined ? [] : this.list.filter(({ id }) => id < from);
        this.list = [...kept, ...found.blocks];
      }
      this.#asking = false;
    })();
  }

  /** The block above or below the selected one. */
  step(by: 1 | -1): void {
    const at = this.list.findIndex(({ id }) => id === this.selected);
    const to = at < 0 ? (by < 0 ? this.list.length - 1 : 0) : Math.min(this.list.length - 1, Math.max(0, at + by));
    const block = this.list[to];
    if (block) this.select(block.id);
  }

  select(id: number): void {
    this.selected = id;
    this.#page.block = id;
    this.#page.showBlock(id);
  }

  /** What it printed, as plain text. */
  async output(id: number): Promise<string | undefined> {
    const answer = (await this.#page.act('person.text', { session: this.#page.id, block: id })) as ReadText | undefined;
    return answer?.parts[0]?.text;
  }
}

export const stateOf = ({ isOver, exitCode }: Block): 'working' | 'done' | 'failed' | 'idle' =>
  !isOver ? 'working' : exitCode === undefined ? 'idle' : exitCode === 0 ? 'done' : 'failed';
