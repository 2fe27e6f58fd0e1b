import type { DurableFarSide } from '../terminal/channel.ts';
import { chores } from '../../system/chores.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { encodeFacts, type TerminalFacts } from './terminal-facts.ts';
import { encodeState } from './saved-state.ts';

/** Output has gone quiet after this long. */
const quietMs = 300;
/** The screen is written down at most this often when output comes and goes, and this often while it never stops. */
const oftenMs = 1000;
const floodMs = 3000;
/** While it never stops, only after so much of it. */
const floodBytes = 1 << 20;

/**
 * Saves the state of a terminal with its keeper, so that another process can resume it: when it grows quiet, now and
 * then while it does not, and at the end. In between nothing is lost, only parsed again.
 */
export class StateSaver implements Disposable {
  readonly #terminal: Terminal;
  readonly #memory: DurableFarSide;
  readonly #facts: () => TerminalFacts;
  readonly #listening: Disposable[];
  #timer: Disposable | undefined;
  #savedTo = 0;
  #savedMs = 0;
  /** Something happened that the output does not tell. */
  #changed = false;

  constructor(terminal: Terminal, memory: DurableFarSide, facts: () => TerminalFacts) {
    this.#terminal = terminal;
    this.#memory = memory;
    this.#facts = facts;
    this.#savedTo = terminal.log.end;
    const change = (): void => {
      this.#changed = true;
      this.#arm();
    };
    this.#listening = [
      terminal.output.on(() => this.#arm()),
      terminal.screen.resized.on(change),
      terminal.screen.cleared.on(change),
    ];
    this.note();
  }

  note(): void {
    this.#memory.note(encodeFacts(this.#facts()));
  }

  /** Not in the middle of an escape sequence. After a mistake of ours what was saved before is still good. */
  save(): void {
    try {
      this.#save();
    } catch (thrown) {
      this.#terminal.screen.fault(thrown);
    }
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    for (const listening of this.#listening) listening[Symbol.dispose]();
  }

  #save(): void {
    const state = this.#terminal.durable.save();
    if (!state) return;
    this.#memory.save(encodeState(state), Math.min(state.screenAt, state.blocksAt));
    this.#savedTo = this.#terminal.log.end;
    this.#savedMs = this.#terminal.clock.monotonic();
    this.#changed = false;
  }

  #arm(ms = quietMs): void {
    this.#timer ??= this.#terminal.clock.after(ms, () => {
      this.#timer = chores.add(() => this.#look());
    });
  }

  #look(): void {
    this.#timer = undefined;
    const { clock, log, ended } = this.#terminal;
    const { lastOutputMs = 0 } = this.#terminal.usage;
    const now = clock.monotonic();
    const quiet = ended !== undefined || now - lastOutputMs >= quietMs;
    const since = now - this.#savedMs;
    if (quiet && (log.end > this.#savedTo || this.#changed)) {
      if (since < oftenMs) this.#arm(oftenMs - since);
      // When it is in the middle of a sequence, the output that ends it brings us back here.
      else this.save();
    } else if (!quiet) {
      if (log.end - this.#savedTo >= floodBytes && since >= floodMs) this.save();
      this.#arm();
    }
  }
}
