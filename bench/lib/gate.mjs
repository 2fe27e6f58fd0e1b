import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';

let count = 0;

/** Programs wait at it, so that the clock starts with their output and not with their start. */
export class Gate {
  #path;
  #fd;

  constructor(folder) {
    this.#path = join(folder, `gate-${process.pid}-${count++}`);
    execFileSync('mkfifo', [this.#path]);
    // Both ends, so that neither we nor a program waits in open.
    this.#fd = openSync(this.#path, constants.O_RDWR | constants.O_NONBLOCK);
  }

  /** The command line of a shell that waits here before it goes on. */
  behind(script) {
    return ['/bin/sh', '-c', `read _ < ${this.#path}; ${script}`];
  }

  /** Lets that many programs through. */
  open(programs) {
    writeSync(this.#fd, '\n'.repeat(programs));
  }

  async [Symbol.asyncDispose]() {
    closeSync(this.#fd);
    unlinkSync(this.#path);
  }
}
