import { chmodSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FairleadError } from '../../contract/errors.ts';
import { makeDirectorySync } from '../../system/files/directories.ts';
import { readText, writePrivate } from '../../system/files/private-files.ts';
import { exists, startOf } from '../../system/process-identity.ts';
import { instanceNames } from './names.ts';
import { type InstanceRecord, isLive, parseRecord } from './record.ts';
import { removeFileSync } from '../../system/files/remove-file.ts';

/** A claim expires if its owner is gone and has not written its record by then. */
const claimMs = 10_000;

/** The instances of one state root, as files that clients of any make can read. */
export class Instances {
  readonly root: string;
  readonly #folder: string;
  readonly #warn: (message: string) => void;
  /** What was warned of already. */
  readonly #warned = new Set<string>();

  constructor(root: string, warn: (message: string) => void = () => {}) {
    this.root = root;
    this.#folder = join(root, 'instances');
    this.#warn = warn;
  }

  /** All live instances. Records of dead ones are removed; unreadable files are left alone. */
  list(): InstanceRecord[] {
    const found = this.#names().flatMap((name) => {
      const record = this.#read(name);
      if (record === undefined) return [];
      if (isLive(record)) return [record];
      removeFileSync(this.#path(name));
      return [];
    });
    this.#chooseActive(found);
    return found.sort((a, b) => a.started_at.localeCompare(b.started_at));
  }

  /** The active instance: clients that know only one connect to it. */
  active(): InstanceRecord | undefined {
    const named = this.#activeId();
    return this.list().find(({ id }) => id === named);
  }

  /** Claims the lowest free name except these. Concurrent claims get different names. */
  claim(except: ReadonlySet<string> = new Set()): string {
    makeDirectorySync(this.#folder, 0o700);
    chmodSync(this.root, 0o700);
    chmodSync(this.#folder, 0o700);
    this.list();
    for (const name of instanceNames()) {
      if (!except.has(name) && this.#take(name)) return name;
    }
    throw new FairleadError('limit_reached', 'Every name for an instance is taken.', {
      hint: `End instances you no longer need; their files are in ${this.#folder}.`,
    });
  }

  write(record: InstanceRecord): void {
    writePrivate(this.#path(record.id), format(record));
    if (this.#activeId() === record.id) this.#activate(record);
    else this.list();
  }

  /** Restores removed or damaged files of a running instance. */
  repair(record: InstanceRecord): void {
    if (this.#text(this.#path(record.id)) === undefined && this.#take(record.id)) this.write(record);
    else this.list();
  }

  /** Removes an instance. If it was active, the newest of the others becomes active. */
  release(id: string): void {
    removeFileSync(this.#path(id));
    if (this.#activeId() === id) this.#chooseActive(this.list());
  }

  #take(name: string): boolean {
    const path = this.#path(name);
    try {
      writeFileSync(path, `${JSON.stringify({ claimed_by: process.pid, claimed_start: startOf(process.pid) })}\n`, {
        mode: 0o600,
        flag: 'wx',
      });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      if (!this.#isAbandoned(path)) return false;
      removeFileSync(path);
      return this.#take(name);
    }
  }

  #isAbandoned(path: string): boolean {
    const text = this.#text(path);
    if (text === undefined) return true;
    if (this.#warned.has(path)) return false;
    if (parseRecord(text) !== undefined) return false;
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
    if (age < claimMs) return false;
    const claim = claimOf(text);
    if (claim === undefined) return false;
    return claim.claimed_by === undefined || !isOwner(claim.claimed_by, claim.claimed_start);
  }

  #chooseActive(live: readonly InstanceRecord[]): void {
    const id = this.#activeId();
    const active = live.find((record) => record.id === id);
    if (active) return this.#isMirrored(active) ? undefined : this.#activate(active);
    const [newest] = [...live].sort((a, b) => b.started_at.localeCompare(a.started_at));
    if (newest) this.#activate(newest);
    else if (id !== undefined) for (const path of this.#pointers()) removeFileSync(path);
  }

  /** Who owns the files. Only that instance writes its own facts: the ones known here may be older. */
  #isMirrored({ id, auth_token }: InstanceRecord): boolean {
    const [, server = '', token = ''] = this.#pointers();
    return parseRecord(this.#text(server) ?? '')?.id === id && this.#text(token) === auth_token;
  }

  #activate(record: InstanceRecord): void {
    const [active = '', server = '', token = ''] = this.#pointers();
    for (const path of [active, server]) this.#point(path, format(record));
    this.#point(token, record.auth_token);
  }

  /** An instance runs even if one of these files cannot be written. */
  #point(path: string, text: string): void {
    if (this.#text(path) === text) return;
    try {
      writePrivate(path, text);
    } catch (error) {
      this.#warnOf(path, `cannot be written (${String((error as NodeJS.ErrnoException).code)})`);
    }
  }

  /** Files of clients that know one instance only. */
  #pointers(): string[] {
    return ['active.json', 'server.json', 'auth_token'].map((name) => join(this.root, name));
  }

  #activeId(): string | undefined {
    return parseRecord(this.#text(join(this.root, 'active.json')) ?? '')?.id;
  }

  #names(): string[] {
    try {
      return readdirSync(this.#folder)
        .filter((name) => name.endsWith('.json'))
        .map((name) => name.slice(0, -'.json'.length));
    } catch {
      return [];
    }
  }

  #read(name: string): InstanceRecord | undefined {
    return parseRecord(this.#text(this.#path(name)) ?? '');
  }

  /** Undefined when there is no such file; empty when it cannot be read: it is left alone. */
  #text(path: string): string | undefined {
    try {
      return readText(path);
    } catch (error) {
      this.#warnOf(path, `cannot be read (${String((error as NodeJS.ErrnoException).code)})`);
      return '';
    }
  }

  #warnOf(path: string, what: string): void {
    if (!this.#warned.has(path)) this.#warn(`${path} ${what}; it is left alone.`);
    this.#warned.add(path);
  }

  #path(name: string): string {
    return join(this.#folder, `${name}.json`);
  }
}

const format = (record: InstanceRecord): string => `${JSON.stringify(record, null, 2)}\n`;

function claimOf(text: string): { claimed_by?: number; claimed_start?: string } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return text.trim() === '' ? {} : undefined;
  }
}

const isOwner = (pid: number, start: string | undefined): boolean =>
  exists(pid) && (start ?? startOf(pid)) === startOf(pid);
