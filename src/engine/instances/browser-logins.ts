import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../system/incident.ts';
import { serviceKey } from '../call/service.ts';
import { LoginFile, type LoginRecord } from './login-file.ts';

/** A login lasts this long, */
export const loginMs = 30 * 24 * 60 * 60_000;
/** and ends earlier when its browser does nothing for this long. */
export const unusedMs = 7 * 24 * 60 * 60_000;
/** The file may be this much behind. */
const saveEveryMs = 60 * 60_000;
const mostLogins = 64;

/** A browser that has logged in. From then on its cookie and its CSRF token stand for its person, together. */
export interface BrowserLogin {
  /** Names it in lists. No secret. */
  readonly id: string;
  readonly browser: string;
  readonly address: string;
  readonly began: number;
  readonly used: number;
  readonly expires: number;
  /** Aborted when it has expired or was ended. The end of the server does not end it. */
  readonly ended: AbortSignal;
  readonly hasCsrf: (given: string) => boolean;
  /** It counts as used until this is disposed: for connections that stay open. */
  readonly hold: () => Disposable;
}

interface Kept {
  record: LoginRecord;
  held: number;
  readonly over: AbortController;
  readonly login: BrowserLogin;
}

interface LoginOptions {
  readonly clock: Clock;
  /** Where they are kept for the next server; absent: they end with this one. */
  readonly path?: string | undefined;
  readonly warn?: Log;
}

/** The browsers that are logged in to an instance. Of both secrets only hashes are kept, here and in the file. */
export class BrowserLogins implements AsyncDisposable {
  readonly #clock: Clock;
  readonly #file: LoginFile | undefined;
  /** By the hash of the cookie, so that the time a lookup takes tells nothing of it; oldest first. */
  readonly #kept = new Map<string, Kept>();
  #timer: Disposable | undefined;

  constructor({ clock, path, warn = () => {} }: LoginOptions) {
    this.#clock = clock;
    this.#file = path === undefined ? undefined : new LoginFile(path, warn);
    for (const record of this.#file?.read().slice(-mostLogins) ?? []) this.#add(record);
    this.#expire();
  }

  /** Past the limit the oldest login ends. */
  begin(from: Pick<LoginRecord, 'browser' | 'address'>): {
    readonly login: BrowserLogin;
    readonly cookie: string;
    readonly csrf: string;
  } {
    const [cookie, csrf] = [secret(), secret()];
    const now = this.#clock.now();
    const id = randomBytes(4).toString('hex');
    const { login } = this.#add({ ...from, id, cookie: hash(cookie), csrf: hash(csrf), began: now, used: now });
    const [oldest] = this.#kept.values();
    if (this.#kept.size > mostLogins && oldest) this.#drop(oldest);
    this.#expire();
    this.#save();
    return { login, cookie, csrf };
  }

  /** The login of a cookie. It counts as used now. */
  find(cookie: string): BrowserLogin | undefined {
    const kept = this.#kept.get(hash(cookie));
    if (kept) this.#use(kept);
    return kept?.login;
  }

  /** Newest first. */
  list(): BrowserLogin[] {
    return [...this.#kept.values()].map(({ login }) => login).toReversed();
  }

  /** Whether there was such a login. */
  end(id: string): boolean {
    const kept = [...this.#kept.values()].find(({ record }) => record.id === id);
    if (!kept) return false;
    this.#drop(kept);
    this.#expire();
    this.#save();
    return true;
  }

  /** Nothing ends: the next server goes on with them. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#timer?.[Symbol.dispose]();
    for (const kept of this.#kept.values()) if (kept.held > 0) this.#touch(kept);
    this.#save();
  }

  #add(record: LoginRecord): Kept {
    const over = new AbortController();
    const facts = (): LoginRecord => kept.record;
    const login: BrowserLogin = {
      id: record.id,
      browser: record.browser,
      address: record.address,
      began: record.began,
      get used() {
        return facts().used;
      },
      get expires() {
        return expiry(facts());
      },
      ended: over.signal,
      hasCsrf: (given) => timingSafeEqual(Buffer.from(hash(given)), Buffer.from(record.csrf)),
      hold: () => this.#hold(kept),
    };
    const kept: Kept = { record, held: 0, over, login };
    this.#kept.set(record.cookie, kept);
    return kept;
  }

  #hold(kept: Kept): Disposable {
    kept.held += 1;
    this.#use(kept);
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return;
        isHeld = false;
        kept.held -= 1;
        this.#use(kept);
      },
    };
  }

  #use(kept: Kept): void {
    const before = kept.record.used;
    this.#touch(kept);
    const isOpen = this.#kept.has(kept.record.cookie);
    if (isOpen && Math.floor(before / saveEveryMs) !== Math.floor(kept.record.used / saveEveryMs)) this.#save();
  }

  #touch(kept: Kept): void {
    kept.record = { ...kept.record, used: this.#clock.now() };
  }

  #drop({ record, over }: Kept): void {
    this.#kept.delete(record.cookie);
    over.abort(new Error('The login has ended.'));
  }

  /** Ends what is over, and looks again when the next one is. */
  #expire(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    const now = this.#clock.now();
    const all = [...this.#kept.values()];
    for (const kept of all) if (kept.held > 0) this.#touch(kept);
    const over = all.filter(({ record }) => expiry(record) <= now);
    for (const kept of over) this.#drop(kept);
    if (over.length > 0) this.#save();
    const next = Math.min(...[...this.#kept.values()].map(({ record }) => expiry(record)));
    if (Number.isFinite(next)) this.#timer = this.#clock.after(next - now, () => this.#expire());
  }

  #save(): void {
    this.#file?.write([...this.#kept.values()].map(({ record }) => record));
  }
}

const expiry = ({ began, used }: LoginRecord): number => Math.min(began + loginMs, used + unusedMs);

const secret = (): string => randomBytes(24).toString('base64url');

const hash = (text: string): string => createHash('sha256').update(text).digest('base64url');

export const browserLogins = serviceKey<BrowserLogins>('pages; they are served with `fairlead serve`');
