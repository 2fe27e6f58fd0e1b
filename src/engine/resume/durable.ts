import type { DurableFarSide } from '../terminal/channel.ts';
import type { Intake } from '../terminal/intake.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { SavedState } from './saved-state.ts';

/** What outlives this process of a terminal. */
export class Durable {
  /** Remembers the terminal when this process is gone; undefined: the terminal ends with it. */
  readonly farSide: DurableFarSide | undefined;
  /** Lets go of the far side without ending it; unless it is being ended already. */
  readonly detach: () => Promise<void>;
  readonly #terminal: Pick<Terminal, 'screen' | 'feed' | 'usage'>;
  readonly #intake: Intake;

  constructor(
    terminal: Pick<Terminal, 'screen' | 'feed' | 'usage'>,
    farSide: DurableFarSide | undefined,
    intake: Intake,
    detach: () => Promise<void>,
  ) {
    this.#terminal = terminal;
    this.farSide = farSide;
    this.#intake = intake;
    this.detach = detach;
  }

  /** What another process needs to go on; nothing in the middle of an escape sequence. */
  save(): SavedState | undefined {
    const taken = this.#intake.save();
    const screen = taken && this.#terminal.screen.save();
    const { feed, usage } = this.#terminal;
    return screen && { screenAt: feed.shownTo, screen, typed: usage.history.save(), ...taken };
  }
}
