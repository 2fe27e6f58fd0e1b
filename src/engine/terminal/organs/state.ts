import { Emitter } from '../../../lib/emitter.ts';
import { isShell } from '../../shells/traits.ts';
import type { Faults } from '../faults.ts';
import { drawsKeys } from '../../shells/input-mode.ts';
import type { Terminal } from '../terminal.ts';
import { Title } from './title.ts';

export type TerminalState = 'starting' | 'idle' | 'running' | 'needs_input' | 'needs_person' | 'exited' | 'lost';

/** What a terminal does. Every change is pushed. */
export class State {
  /** The new state, after each change. */
  readonly changed = new Emitter<TerminalState>();
  readonly title: Title;
  readonly #terminal: Terminal;
  readonly #faults: Faults;
  #pushed: TerminalState = 'starting';
  #endedAt: number | undefined;
  #since: number;
  #isClosing = false;
  /** For so long it stays readable after its end, if that is known. */
  keptMs: number | undefined;

  constructor(terminal: Terminal, faults: Faults, endedAt: number | undefined) {
    this.#terminal = terminal;
    this.#faults = faults;
    this.#endedAt = endedAt;
    this.#since = terminal.clock.now();
    this.title = new Title(terminal, this.changed, faults);
  }

  get current(): TerminalState {
    const { blocks, ended, usage, process, person } = this.#terminal;
    if (ended) return ended.by === 'lost' ? 'lost' : 'exited';
    const prompt = person.prompts.current;
    if (prompt) return prompt.needs === 'person' ? 'needs_person' : 'needs_input';
    if (blocks.state === 'prompt') return 'idle';
    if (blocks.state === 'running') return 'running';
    if (usage.lastOutputMs === undefined) return 'starting';
    const foreground = process?.foreground();
    // A line editor would read keys one by one; what start-up files print is no prompt.
    if (this.isStarting && isShell(foreground?.name) && !drawsKeys(process?.inputMode())) return 'starting';
    return foreground === undefined || foreground.isLeader ? 'idle' : 'running';
  }

  /** When it began, as far as it was pushed; in ms since the epoch. */
  get since(): number {
    return this.#since;
  }

  /** Its shell marks its prompts and has not shown the first one: it reads its start-up files, or never gets there. */
  get isStarting(): boolean {
    const { blocks, ended } = this.#terminal;
    return blocks.marked && !ended && blocks.state === 'unknown' && blocks.cycle === -1;
  }

  /** No mark tells it: the foreground program has to be asked for. */
  get isUnmarked(): boolean {
    const { blocks, ended, process } = this.#terminal;
    return blocks.state === 'unknown' && !ended && process !== undefined;
  }

  /** The terminal is being disposed, or was. */
  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** When the far side ended, in ms since the epoch. */
  get endedAt(): number | undefined {
    return this.#endedAt;
  }

  /** Until when it can still be read, in ms since the epoch; undefined while it runs. */
  get keptUntil(): number | undefined {
    return this.#endedAt === undefined || this.keptMs === undefined ? undefined : this.#endedAt + this.keptMs;
  }

  /** The far side has ended. Answers with when. */
  end(): number {
    return (this.#endedAt ??= this.#terminal.clock.now());
  }

  close(): void {
    this.#isClosing = true;
  }

  /** Pushes the state if it is another than the listeners know. Never throws. */
  check(): void {
    this.#faults.guard(() => {
      const { current } = this;
      if (current === this.#pushed) return;
      this.#pushed = current;
      this.#since = this.#terminal.clock.now();
      this.changed.emit(current);
    }, 'the state');
  }
}
