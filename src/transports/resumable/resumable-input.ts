import { FairleadError } from '../../contract/errors.ts';

/** On the way to the keeper and not yet accepted by the program's terminal. */
const creditBytes = 128 << 10;
/** An interrupt must not stand behind more than this in one frame. */
const pieceBytes = 16 << 10;
/** Above this a writer that does not wait for its promises is told so. */
const limitBytes = 16 << 20;

interface Entry {
  readonly bytes: Uint8Array;
  /** Position of the first byte in everything ever typed. */
  from: number;
  readonly accepted: () => void;
  readonly refused: (error: FairleadError) => void;
}

/** Bytes on their way through the keeper. Each has a position, so that after a broken connection none is typed twice. */
export class ResumableInput {
  readonly #send: (bytes: Uint8Array, from: number) => void;
  readonly #entries: Entry[] = [];
  /** Position of the first byte that was typed here. */
  #first: number;
  #accepted: number;
  #sent: number;
  #end: number;
  #closed = false;

  constructor(typedBefore: number, send: (bytes: Uint8Array, from: number) => void) {
    this.#send = send;
    this.#first = typedBefore;
    this.#accepted = typedBefore;
    this.#sent = typedBefore;
    this.#end = typedBefore;
  }

  /** Resolves when the terminal has accepted all of it. The bytes must stay as they are until then. */
  write(bytes: Uint8Array): Promise<void> {
    if (this.#closed) return Promise.reject(exited());
    if (bytes.length === 0) return Promise.resolve();
    const pending = this.#end - this.#accepted;
    if (pending > 0 && pending + bytes.length > limitBytes) {
      return Promise.reject(
        new FairleadError('limit_reached', 'The program in this terminal is not reading its input.', {
          hint: 'Wait until earlier input was accepted, or interrupt the program.',
        }),
      );
    }
    return new Promise((accepted, refused) => {
      this.#entries.push({ bytes, from: this.#end, accepted, refused });
      this.#end += bytes.length;
      this.#pump();
    });
  }

  /** Everything that was sent has arrived. */
  get isSettled(): boolean {
    return this.#sent === this.#accepted;
  }

  /** Where the next byte goes. */
  get end(): number {
    return this.#end;
  }

  get position(): number {
    return this.#accepted;
  }

  /** The terminal has everything before this position. */
  accepted(position: number): void {
    this.#accepted = Math.max(this.#accepted, position);
    for (let entry = this.#entries[0]; entry; entry = this.#entries[0]) {
      if (entry.from + entry.bytes.length > this.#accepted) break;
      this.#entries.shift();
      entry.accepted();
    }
    this.#pump();
  }

  /** A new connection: what the far side does not have is sent again. It has typed up to `position`, and more may wait there. */
  restart(position: number, queued = position): void {
    // A keeper that became another program may have lost what waited before our first byte, if it was an old one: nobody can send
    // that again, and ours moves up.
    const lost = Math.max(0, this.#first - Math.max(position, queued));
    for (const entry of this.#entries) entry.from -= lost;
    this.#first -= lost;
    this.#accepted -= lost;
    this.#end -= lost;
    // More may have been accepted since the far side said where it is.
    this.#sent = Math.max(position, this.#accepted);
    this.accepted(position);
  }

  /** Nothing is accepted any more: everybody still waiting is told. */
  close(): void {
    this.#closed = true;
    for (const entry of this.#entries.splice(0)) entry.refused(exited());
  }

  #pump(): void {
    for (const { bytes, from } of this.#entries) {
      while (this.#sent < from + bytes.length) {
        const room = Math.min(creditBytes - (this.#sent - this.#accepted), pieceBytes);
        if (room <= 0) return;
        const piece = bytes.subarray(this.#sent - from, this.#sent - from + room);
        const at = this.#sent;
        this.#sent += piece.length;
        this.#send(piece, at);
      }
    }
  }
}

function exited(): FairleadError {
  return new FairleadError('terminal_exited', 'The program in this terminal has ended; it takes no input.', {
    hint: 'Read its last output, or open a new terminal.',
  });
}
