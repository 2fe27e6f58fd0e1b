import { Emitter } from '../../lib/emitter.ts';
import { isShell } from '../shells/traits.ts';
import type { Faults } from './faults.ts';
import { drawsKeys } from '../shells/input-mode.ts';
import type { Terminal } from './terminal.ts';

export type TerminalState = 'starting' | 'idle' | 'running' | 'needs_input' | 'needs_person' | 'exited' | 'lost';

/** What a terminal does. Every change is pushed. */
export class State {
  /** The new state, after each change. */
  readonly changed = new Emitter<TerminalState>();
  readonly #terminal: Pick<Terminal, 'blocks' | 'ended' | 'lastOutputMs' | 'marked' | 'process' | 'prompts'>;
  readonly #faults: Faults;
  #pushed: TerminalState = 'starting';

  constructor(
    terminal: Pick<Terminal, 'blocks' | 'ended' | 'lastOutputMs' | 'marked' | 'process' | 'prompts'>,
    faults: Faults,
  ) {
    this.#terminal = terminal;
    this.#faults = faults;
  }

  get current(): TerminalState {
    const { blocks, ended, lastOutputMs, process, prompts } = this.#terminal;
    if (ended) return ended.by === 'lost' ? 'lost' : 'exited';
    if (prompts.current) return prompts.current.needs === 'person' ? 'needs_person' : 'needs_input';
    if (blocks.state === 'prompt') return 'idle';
    if (blocks.state === 'running') return 'running';
    if (lastOutputMs === undefined) return 'starting';
    const foreground = process?.foreground();
    // A line editor would read keys one by one; what start-up files print is no prompt.
    if (this.isStarting && isShell(foreground?.name) && !drawsKeys(process?.inputMode())) return 'starting';
    return foreground === undefined || foreground.isLeader ? 'idle' : 'running';
  }

  /** Its shell marks its prompts and has not shown the first one: it reads its start-up files, or never gets there. */
  get isStarting(): boolean {
    const { blocks, ended, marked } = this.#terminal;
    return marked && !ended && blocks.state === 'unknown' && blocks.cycle === -1;
  }

  /** No mark tells it: the foreground program has to be asked for. */
  get isUnmarked(): boolean {
    const { blocks, ended, process } = this.#terminal;
    return blocks.state === 'unknown' && !ended && process !== undefined;
  }

  /** Pushes the state if it is another than the listeners know. Never throws. */
  check(): void {
    this.#faults.guard(() => {
      const { current } = this;
      if (current === this.#pushed) return;
      this.#pushed = current;
      this.changed.emit(current);
    }, 'the state');
  }
}
