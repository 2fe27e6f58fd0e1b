import { faultWords } from '../fault.ts';

const undoMs = 10_000;

/** What became of a field that was left: saved, with a way back for ten seconds, or refused. */
export class FieldSave<Value> {
  state = $state<'idle' | 'saving' | 'saved' | 'undone' | 'failed'>('idle');
  fault = $state('');
  #before: Value | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  get canUndo(): boolean {
    return this.state === 'saved';
  }

  async save(value: Value, before: Value, write: (value: Value) => Promise<void> | void): Promise<boolean> {
    return await this.#write(value, before, write, 'saved');
  }

  async undo(now: Value, write: (value: Value) => Promise<void> | void): Promise<void> {
    if (this.#before !== undefined) await this.#write(this.#before, now, write, 'undone');
  }

  dispose(): void {
    clearTimeout(this.#timer);
  }

  async #write(
    value: Value,
    before: Value,
    write: (value: Value) => Promise<void> | void,
    after: 'saved' | 'undone',
  ): Promise<boolean> {
    clearTimeout(this.#timer);
    this.state = 'saving';
    try {
      await write(value);
    } catch (error) {
      this.fault = faultWords(error);
      this.state = 'failed';
      return false;
    }
    this.#before = before;
    this.state = after;
    this.#timer = setTimeout(() => (this.state = 'idle'), undoMs);
    return true;
  }
}
