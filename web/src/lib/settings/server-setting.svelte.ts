import { feed } from '../feed.svelte.ts';
import { settingsFiles } from './files.svelte.ts';

interface Operations {
  /** The file without its ending. */
  readonly file: string;
  readonly get: string;
  readonly set: string;
}

/** A setting that the server keeps in a file. What others change shows at once. */
export class ServerSetting<Value extends { readonly error?: string | undefined }> {
  readonly #operations: Operations;
  value = $state<Value>();
  fault = $state<unknown>();
  #loaded: string | undefined;

  constructor(operations: Operations) {
    this.#operations = operations;
  }

  /** For an effect of a component: reads it now, and again whenever its file has changed. */
  follow(): void {
    const { changed_at = 'first', error = '' } = settingsFiles.all.get(this.#operations.file) ?? {};
    const version = `${changed_at} ${error}`;
    if (feed.link !== 'live' || version === this.#loaded) return;
    this.#loaded = version;
    void this.load();
  }

  async load(): Promise<void> {
    this.fault = undefined;
    try {
      this.value = await feed.live?.call<Value>(this.#operations.get, {});
    } catch (error) {
      this.fault = error;
      this.#loaded = undefined;
    }
  }

  /** Rejects in the server's words. The page shows what the server says after it, never what was wished. */
  async save(change: object): Promise<void> {
    await feed.live?.call(this.#operations.set, change);
    await this.load();
  }

  /** Why its file cannot be read: nothing is overwritten until it can. */
  get error(): string | undefined {
    return this.value?.error;
  }

  get edit(): string | undefined {
    return settingsFiles.edit(this.#operations.file, feed.now);
  }

  /** Nothing can be changed now. */
  get isOff(): boolean {
    return this.error !== undefined || feed.link !== 'live';
  }
}
