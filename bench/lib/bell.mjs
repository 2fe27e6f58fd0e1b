import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, unlinkSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';

let count = 0;

/** Programs ring it to say that they got so far: over a pipe, not over the terminal that is being measured. */
export class Bell {
  #path;
  #stream;
  #writeEnd;
  #rings = 0;
  #waiting;

  constructor(folder) {
    this.#path = join(folder, `bell-${process.pid}-${count++}`);
    execFileSync('mkfifo', [this.#path]);
    const fd = openSync(this.#path, constants.O_RDONLY | constants.O_NONBLOCK);
    // Held, or the pipe would end with the first program that rings.
    this.#writeEnd = openSync(this.#path, constants.O_WRONLY);
    this.#stream = new Socket({ fd, readable: true, writable: false });
    this.#stream.on('data', (data) => this.#ring(data.length));
  }

  /** What a shell runs to ring once. */
  get command() {
    return `echo > ${this.#path}`;
  }

  /** Resolves after so many rings, counted from the last time this was asked. */
  rung(rings) {
    return new Promise((resolve) => {
      this.#waiting = { rings, resolve };
      this.#ring(0);
    });
  }

  #ring(times) {
    this.#rings += times;
    if (this.#waiting === undefined || this.#rings < this.#waiting.rings) return;
    this.#rings -= this.#waiting.rings;
    this.#waiting.resolve();
    this.#waiting = undefined;
  }

  async [Symbol.asyncDispose]() {
    this.#stream.destroy();
    closeSync(this.#writeEnd);
    unlinkSync(this.#path);
  }
}
