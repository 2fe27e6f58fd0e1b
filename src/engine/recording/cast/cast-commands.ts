import { Blocks, type BlockEvent } from '../../terminal/blocks.ts';
import { type Mark, MarkScanner } from '../../terminal/marks.ts';
import type { CastEvent } from './cast-reader.ts';
import { type RecordedCommand, mostCommands } from '../metadata.ts';

/**
 * The commands that ended in a cast, from the shell marks in it. Times are those of the cast; the marks have no nonce
 * there, so all are trusted.
 */
export class CastCommands {
  readonly #scanner = new MarkScanner();
  readonly #blocks = new Blocks({ clock: { now: () => this.#atMs }, limit: 1 });
  readonly #commands: RecordedCommand[] = [];
  /** Of markers whose command has not begun: they stand before the output in which it does. */
  readonly #labels: string[] = [];
  #label: string | undefined;
  #failed = false;
  #seenMarks = false;
  #offset = 0;
  #atMs = 0;

  get failed(): boolean {
    return this.#failed;
  }

  get commands(): readonly RecordedCommand[] {
    return this.#commands;
  }

  /** The command that has begun and not ended. */
  get running(): Pick<RecordedCommand, 'command' | 'startMs'> | undefined {
    const { current } = this.#blocks;
    return current && { command: current.command ?? this.#label ?? null, startMs: current.startedAt ?? 0 };
  }

  accept({ code, data, atMs }: CastEvent): void {
    this.#atMs = atMs;
    if (code === 'm') this.#labels.push(data);
    if (code !== 'o') return;
    const bytes = Buffer.from(data);
    for (const mark of this.#scanner.scan(bytes, this.#offset)) this.#mark(mark);
    this.#offset += bytes.length;
  }

  #mark(mark: Mark): void {
    for (const event of this.#blocks.accept(mark)) this.#block(event);
    if (!'ACD'.includes(mark.kind)) return;
    // An end before any beginning: the command ran when the recording began.
    if (mark.kind === 'D' && !this.#seenMarks) {
      const exitCode = /^\d+$/.test(mark.value) ? Number(mark.value) : null;
      this.#note({ command: null, exitCode, startMs: 0, endMs: this.#atMs });
    }
    this.#seenMarks = true;
  }

  #block(event: BlockEvent): void {
    if (event.type === 'started') this.#label = this.#labels.shift();
    if (event.type !== 'ended') return;
    const { command = this.#label || null, exitCode = null, startedAt = 0, endedAt = startedAt } = event.block;
    this.#note({ command, exitCode, startMs: startedAt, endMs: endedAt });
  }

  #note(command: RecordedCommand): void {
    if (command.exitCode !== null && command.exitCode !== 0) this.#failed = true;
    if (this.#commands.length < mostCommands) this.#commands.push(command);
  }
}
