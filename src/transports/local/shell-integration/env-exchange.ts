import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FairleadError } from '../../../contract/errors.ts';
import { type Dialect, traitsOf } from '../../../engine/shells/traits.ts';

export interface EnvironmentSnapshot {
  readonly variables: ReadonlyMap<string, string>;
  /** Milliseconds since the epoch. */
  readonly asOf: number;
}

/** Changes to a shell's environment and views of it, through files that its hooks read and write: nothing is typed. */
export class EnvExchange {
  readonly #session: string;
  readonly #dialect: Dialect | undefined;
  #last: EnvironmentSnapshot | undefined;

  /** `shell`: the kind of its integration. */
  constructor(session: string, shell: string | undefined) {
    this.#session = session;
    this.#dialect = traitsOf(shell)?.dialect;
  }

  /**
   * Takes effect when the shell next looks: at its next prompt, before its next command (zsh, fish) or when a signal makes
   * it. Tells whether it has.
   */
  queue(changes: Readonly<Record<string, string | null>>): () => boolean {
    const lines = Object.entries(changes).map(([name, value]) => this.#assignment(name, value));
    if (lines.length === 0) return () => true;
    // Numbered, so that a file the shell is just removing is never one it has not read. The count is kept beside them, for a
    // server that comes after this one.
    const number = this.#queued() + 1;
    this.#put('queued', `${number}\n`);
    const file = this.#put(`in.${number}`, `${lines.join('\n')}\n`);
    return () => !existsSync(file);
  }

  /** From now on the shell writes its exported environment at every prompt. Costs it well under a millisecond each. */
  follow(): void {
    // The folder is removed with the shell: no writer is left.
    if (!existsSync(this.#session)) return;
    writeFileSync(join(this.#session, 'env'), '', { mode: 0o600, flag: 'a' });
  }

  /** What is written from now on is new: another file, for the shell may be writing into the one that was. */
  renew(): void {
    this.read();
    if (existsSync(this.#session)) this.#put('env', '');
  }

  /** What the shell wrote last; undefined when it has not. */
  read(): EnvironmentSnapshot | undefined {
    this.#last = this.fresh() ?? this.#last;
    return this.#last;
  }

  /** What it wrote since `renew`; undefined when it has not, or is writing just now. */
  fresh(): EnvironmentSnapshot | undefined {
    const path = join(this.#session, 'env');
    let bytes: Buffer;
    let asOf: number;
    try {
      bytes = readFileSync(path);
      asOf = Math.round(statSync(path).mtimeMs);
    } catch {
      return undefined;
    }
    const records = bytes.toString('utf8').split('\0');
    // A complete file ends in an empty record.
    if (records.length < 2 || records.pop() !== '' || records.pop() !== '') return undefined;
    const variables = new Map<string, string>();
    for (const record of records) {
      const equals = record.indexOf('=');
      if (equals > 0) variables.set(record.slice(0, equals), record.slice(equals + 1));
    }
    return { variables, asOf };
  }

  #queued(): number {
    try {
      return Number.parseInt(readFileSync(join(this.#session, 'queued'), 'utf8'), 10) || 0;
    } catch {
      return 0;
    }
  }

  #put(name: string, text: string): string {
    const draft = join(this.#session, `draft.${randomBytes(6).toString('hex')}`);
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx' });
    const file = join(this.#session, name);
    renameSync(draft, file);
    return file;
  }

  #assignment(name: string, value: string | null): string {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      throw new FairleadError('invalid_input', `"${name.slice(0, 80)}" is not a name for an environment variable.`, {
        hint: 'Use letters, digits and underscores, not starting with a digit.',
      });
    }
    if (value?.includes('\0')) {
      throw new FairleadError('invalid_input', `The value of ${name} holds a NUL byte, which no environment can.`);
    }
    if (this.#dialect === 'fish') {
      return value === null ? `set -e ${name}` : `set -gx ${name} '${value.replace(/[\\']/g, '\\$&')}'`;
    }
    return value === null ? `unset ${name}` : `export ${name}='${value.replaceAll("'", `'\\''`)}'`;
  }
}
