import type { Clock } from '../../lib/clock.ts';
import { Emitter } from '../../lib/emitter.ts';
import { Blocks } from './blocks.ts';
import { type SavedState, resumeAt } from '../resume/saved-state.ts';
import { MarkScanner } from './marks.ts';
import type { Faults } from './faults.ts';
import type { OutputLog } from './output-log.ts';

export interface OutputEvent {
  /** Valid only during the event. */
  readonly bytes: Uint8Array;
  /** Offset of the first byte in the log. */
  readonly from: number;
  readonly atMs: number;
}

interface IntakeInit {
  readonly log: OutputLog;
  readonly clock: Clock;
  /** Marks that carry it come from our shell integration. */
  readonly nonce: string | undefined;
  readonly faults: Faults;
  /** What another process had come to. */
  readonly saved: SavedState | undefined;
  /** The output, or a mark in it, tells of another state than before. */
  readonly onState: () => void;
}

/** Takes in a program's output: first the log, then the marks in it, then the listeners. */
export class Intake {
  readonly output = new Emitter<OutputEvent>();
  readonly blocks: Blocks;
  readonly #init: IntakeInit;
  readonly #marks: MarkScanner;
  #lastMs: number | undefined;

  constructor(init: IntakeInit) {
    const { clock, nonce, saved } = init;
    this.#init = init;
    this.blocks = new Blocks({ clock, trustOnly: nonce !== undefined, saved: saved?.blocks });
    this.#marks = new MarkScanner({ nonce, line: saved?.line });
  }

  /** Monotonic time of the newest output. */
  get lastMs(): number | undefined {
    return this.#lastMs;
  }

  /** What another process needs to go on; nothing in the middle of an escape sequence. */
  save(): Pick<SavedState, 'blocksAt' | 'blocks' | 'line'> | undefined {
    if (!this.#marks.atRest) return undefined;
    return { blocksAt: this.#init.log.end, blocks: this.blocks.save(), line: this.#marks.line };
  }

  take(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    const { log, clock, faults, onState } = this.#init;
    // Only what the marks tell: asking the system for the foreground program would cost more than the chunk itself.
    const before = this.#lastMs === undefined ? 'starting' : this.blocks.state;
    const from = log.end;
    const atMs = clock.monotonic();
    this.#lastMs = atMs;
    log.append(bytes);
    // The output is in the log: a fault of a listener must not end the program that printed it.
    faults.guard(() => {
      for (const mark of this.#marks.scan(bytes, from)) {
        for (const event of this.blocks.accept(mark)) this.blocks.events.emit(event);
      }
    }, 'the marks');
    faults.guard(() => this.output.emit({ bytes, from, atMs }), 'the output');
    if (this.blocks.state !== before) onState();
  }

  /** Takes in what another process had read and not yet told of. */
  catchUp(): void {
    const { log, clock, faults, saved } = this.#init;
    let at = resumeAt(log, saved?.blocksAt);
    for (const view of log.views(at)) {
      faults.guard(() => {
        for (const mark of this.#marks.scan(view, at)) this.blocks.catchUp(mark);
      }, 'the marks');
      at += view.length;
    }
    if (log.end > 0) this.#lastMs = clock.monotonic();
  }

  /** The last byte was taken in. */
  end(atMs: number): void {
    for (const event of this.blocks.end(this.#init.log.end, atMs)) this.blocks.events.emit(event);
  }
}
