/** What a terminal is connected to. Transports implement this; nothing outside them knows which kind it is. */

import type { ByteSource } from '../../lib/byte-queue.ts';
import type { InputMode } from '../shells/input-mode.ts';

export interface Size {
  readonly cols: number;
  readonly rows: number;
}

export type Ended =
  | { readonly by: 'exit'; readonly code: number }
  | { readonly by: 'signal'; readonly signal: string }
  /** The link dropped; the far side may live on. */
  | { readonly by: 'lost'; readonly reason: string };

export type Signal = 'INT' | 'TERM' | 'HUP' | 'KILL' | 'QUIT' | 'USR1' | 'USR2' | 'STOP' | 'CONT';

/** The process that would receive Ctrl-C right now. */
export interface Foreground {
  readonly pid: number;
  /** Base name of its executable, `vim`. */
  readonly name: string;
  /** True when it is the process the channel itself started: a shell at its prompt. */
  readonly isLeader: boolean;
  /** Its command line, its own name first; undefined when unknown. */
  readonly arguments?: readonly string[] | undefined;
}

/** What can be seen of a far side that is a process on a machine we can look at. */
export interface ProcessView {
  readonly pid: number;
  foreground(): Foreground | undefined;
  cwd(): string | undefined;
  /** Undefined when the channel cannot tell, never for a mode. */
  inputMode(): InputMode | undefined;
  /** Canonical mode drops the bytes of a line past this limit. Undefined when there is no limit, or it is unknown. */
  longestLine?(): number | undefined;
  /** Whether a program in the foreground waits for input of the terminal right now. Undefined when unknown. */
  reads?(): boolean | undefined;
  /** The environment the program began with. */
  environment?(): ReadonlyMap<string, string> | undefined;
  /** Signals the process group in the foreground, and nothing else. */
  signal?(signal: Signal): void;
  /** Tells the program itself, in the foreground or not, to look around (SIGWINCH): nothing to one that does not expect it. */
  wake?(): void;
}

/** A live byte stream to something that behaves like a terminal. */
export interface Channel extends AsyncDisposable {
  /**
   * Read once, by one reader. Finishes when the far side ends, after its last byte. A slow reader slows the writer.
   * A chunk belongs to the reader until it asks for the next one; after that its memory may be reused.
   */
  readonly output: ByteSource;
  /** Settles exactly once, after the last byte of output was made available, and never rejects. */
  readonly ended: Promise<Ended>;
  /** Resolves when the bytes are accepted, not when they are echoed. Rejects with `terminal_exited` once ended. */
  write(bytes: Uint8Array): Promise<void>;
  // What not every far side can do is absent, never a silent no-op.
  /** Makes every byte the far side has already written available to the reader, without waiting for more. Never rejects. */
  readonly flush?: () => void | Promise<void>;
  readonly resize?: (size: Size) => Promise<void>;
  /** Signals the process group in the foreground and, for HUP, TERM and KILL, everything else the channel started. */
  readonly kill?: (signal: Signal) => Promise<void>;
  /**
   * Ends as disposing does, but the far side has this long to save its work; settles as soon as it is gone. Disposing, or asking
   * again with less, shortens that.
   */
  readonly endWithin?: (graceMs: number) => Promise<void>;
  readonly sendBreak?: () => Promise<void>;
  readonly process?: ProcessView;
  /** From here on the output comes without this text: it was typed as a secret. */
  readonly conceal?: (text: string | Uint8Array) => void;
  /** The far side goes on without this process, and remembers for the next one what it is told. */
  readonly durable?: DurableFarSide;
}

/** What outlives this process together with the far side. Neither call waits: what comes last counts. */
export interface DurableFarSide {
  /** Facts about the terminal. */
  note(facts: Uint8Array): void;
  /** All there is to know about what the output up to this offset has led to. */
  save(state: Uint8Array, offset: number): void;
  /** Lets go without ending anything: `output` finishes, and `ended` settles with `lost`. */
  leave(): Promise<void>;
}
