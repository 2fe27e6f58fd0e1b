import type { Buffer as NodeBuffer } from 'node:buffer';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

/** The few calls of a file handle that a part file needs. */
export interface PartHandle {
  write(bytes: NodeBuffer, offset: number, length: number, position: number): Promise<{ bytesWritten: number }>;
  truncate(length: number): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** Opens a new file that only its owner can read. Fails when it exists. */
export type OpenPart = (path: string) => Promise<PartHandle>;
export const openPart: OpenPart = (path) => open(path, 'wx', 0o600);

/** Opens a part file that another process began. */
export const reopenPart: OpenPart = (path) => open(path, constants.O_RDWR | constants.O_NOFOLLOW);

/**
 * Whole lines, written behind in order. After trouble with the disk the file is cut at its last whole line and takes
 * nothing more.
 */
export class PartFile {
  readonly #handle: PartHandle;
  #waiting: string[] = [];
  #waitingBytes = 0;
  #written = 0;
  #writing: Promise<void> = Promise.resolve();
  #busy = false;
  #error: unknown;
  /** Told the size of the file after each write. */
  onWritten: ((bytes: number) => void) | undefined;

  /** The file has `written` bytes already. */
  constructor(handle: PartHandle, written = 0) {
    this.#handle = handle;
    this.#written = written;
  }

  /** Bytes in the file and on their way to it. */
  get size(): number {
    return this.#written + this.#waitingBytes;
  }

  /** Bytes that are not in the file yet. */
  get waiting(): number {
    return this.#waitingBytes;
  }

  /** What went wrong with the disk. */
  get error(): unknown {
    return this.#error;
  }

  append(line: string): void {
    if (this.#error !== undefined) return;
    this.#waiting.push(line);
    this.#waitingBytes += Buffer.byteLength(line);
  }

  /** Settles when everything appended so far is in the file, or the disk failed. Never rejects. */
  flush(): Promise<void> {
    if (!this.#busy) {
      this.#busy = true;
      this.#writing = this.#drain();
    }
    return this.#writing;
  }

  /** Writes the rest through to the disk and closes. Settles with the size of the file; never rejects. */
  async close(): Promise<number> {
    await this.flush();
    try {
      await this.#handle.sync();
    } catch (thrown) {
      this.#error ??= thrown;
    }
    await this.#handle.close().catch(() => {});
    return this.#written;
  }

  async #drain(): Promise<void> {
    try {
      while (this.#waiting.length > 0 && this.#error === undefined) {
        const batch = Buffer.from(this.#waiting.join(''));
        this.#waiting = [];
        await this.#write(batch);
        this.#waitingBytes -= batch.length;
        this.onWritten?.(this.#written);
      }
    } catch (thrown) {
      this.#error = thrown;
      this.#waiting = [];
      this.#waitingBytes = 0;
      await this.#handle.truncate(this.#written).catch(() => {});
    } finally {
      this.#busy = false;
    }
  }

  async #write(batch: NodeBuffer): Promise<void> {
    const start = this.#written;
    let done = 0;
    try {
      while (done < batch.length) {
        const { bytesWritten } = await this.#handle.write(batch, done, batch.length - done, start + done);
        if (bytesWritten === 0) throw new Error('the disk takes no more');
        done += bytesWritten;
      }
    } finally {
      // Only whole lines count: after a failure the file is cut here.
      this.#written = start + (done === 0 ? 0 : batch.lastIndexOf(0x0a, done - 1) + 1);
    }
  }
}
