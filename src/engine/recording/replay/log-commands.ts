import { mostCommands, type RecordedCommand } from '../metadata.ts';
import type { LogEvent } from '../log/log-line.ts';

/** The commands of a raw log, as its recorder noted them. Times are those that are given with each event. */
export class LogCommands {
  readonly commands: RecordedCommand[] = [];
  #open: { command: string | null; readonly startMs: number } | undefined;

  get running(): Pick<RecordedCommand, 'command' | 'startMs'> | undefined {
    return this.#open;
  }

  accept({ name, data }: Pick<LogEvent, 'name' | 'data'>, atMs: number): void {
    const text = data.length === 0 ? null : data.toString();
    if (name === 'block_output') {
      this.#close(null, atMs);
      this.#open = { command: text, startMs: atMs };
    } else if (name === 'block_input') {
      if (this.#open) this.#open.command ??= text;
    } else if (name === 'block_exit') {
      const exitCode = text !== null && /^-?\d+$/.test(text) ? Number(text) : null;
      this.#close(exitCode, atMs);
    }
  }

  #close(exitCode: number | null, endMs: number): void {
    const open = this.#open;
    this.#open = undefined;
    if (!open || (open.command === null && exitCode === null) || this.commands.length >= mostCommands) return;
    this.commands.push({ ...open, exitCode, endMs });
  }
}
