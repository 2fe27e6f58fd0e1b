import { z } from 'zod';
import type { Log } from '../../system/incident.ts';
import { readText, writePrivate } from '../../system/files/private-files.ts';

const Hash = z.string().regex(/^[\w-]{43}$/);

/** Times are in ms since 1970. */
const Record = z.object({
  id: z.string().regex(/^[0-9a-f]{8}$/),
  cookie: Hash,
  csrf: Hash,
  browser: z.string().max(64),
  address: z.string().max(64),
  began: z.number(),
  used: z.number(),
});
/** A login as it is kept: hashes of its two secrets, and what a person recognises it by. */
export type LoginRecord = z.output<typeof Record>;

const Content = z.object({ logins: z.array(Record).max(1000) });

/** The logins of an instance, for its next server. A file that cannot be used costs logins, never the start. */
export class LoginFile {
  readonly #path: string;
  readonly #warn: Log;

  constructor(path: string, warn: Log) {
    this.#path = path;
    this.#warn = warn;
  }

  read(): LoginRecord[] {
    try {
      const text = readText(this.#path);
      return text === undefined ? [] : Content.parse(JSON.parse(text)).logins;
    } catch {
      this.#warn(`${this.#path} cannot be understood: browsers have to log in again.`);
      return [];
    }
  }

  write(logins: readonly LoginRecord[]): void {
    try {
      writePrivate(this.#path, `${JSON.stringify({ logins })}\n`);
    } catch (error) {
      const { code = 'unknown' } = error as NodeJS.ErrnoException;
      this.#warn(`${this.#path} cannot be written (${code}): browsers have to log in again after a restart.`);
    }
  }
}
