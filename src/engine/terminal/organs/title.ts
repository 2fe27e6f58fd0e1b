import { plainText } from '../../../lib/plain-text.ts';
import { Emitter } from '../../../lib/emitter.ts';
import { activityOf } from '../activity.ts';
import type { Faults } from '../faults.ts';
import type { State } from './state.ts';
import type { Terminal } from '../terminal.ts';

/** What a terminal is called: by its program, else by its opener, else after what runs in it. */
export class Title {
  /** The new title, after each change. */
  readonly changed = new Emitter<string>();
  readonly #terminal: Terminal;
  readonly #faults: Faults;
  #pushed: string | undefined;

  constructor(terminal: Terminal, state: Pick<State['changed'], 'on'>, faults: Faults) {
    this.#terminal = terminal;
    this.#faults = faults;
    terminal.screen.events.on(({ type }) => type === 'title' && this.check());
    state.on(() => this.check());
  }

  get current(): string {
    return this.#given || activityOf(this.#terminal).foreground;
  }

  /** Its listeners see the name of the foreground program, which has to be asked for. */
  get isUntold(): boolean {
    return this.changed.size > 0 && this.#terminal.process !== undefined && this.#given === '';
  }

  /** Pushes the title if it is another than the listeners know. Never throws. */
  check(): void {
    this.#faults.guard(() => {
      const current = this.changed.size > 0 ? this.current : undefined;
      if (current === this.#pushed) return;
      this.#pushed = current;
      if (current !== undefined) this.changed.emit(current);
    }, 'the title');
  }

  get #given(): string {
    return clean(this.#terminal.screen.title) || clean(this.#terminal.identity.launch.title ?? '');
  }
}

/** Without characters that would fool a reader. */
const clean = (text: string): string => plainText(text, { separator: ' ' }).text.trim();
