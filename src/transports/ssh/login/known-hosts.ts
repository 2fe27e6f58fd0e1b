import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { remoteError } from '../../../contract/remote-errors.ts';
import { type KnownLine, parseKnownLine } from './known-hosts-line.ts';

export type HostKeyPolicy = 'strict' | 'ask' | 'accept-new' | 'off';

type KnownState = 'known' | 'unknown' | 'changed' | 'revoked';

/** How a host is named in known_hosts. */
const knownName = (host: string, port: number): string => (port === 22 ? host : `[${host}]:${port}`);

export const fingerprint = (key: Buffer): string =>
  `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`;

/** What the known_hosts files say about one host. */
export class KnownHost {
  readonly name: string;
  readonly #lines: readonly KnownLine[];
  readonly #elsewhere: readonly KnownLine[];

  constructor(lines: readonly KnownLine[], host: string, port: number) {
    this.name = knownName(host, port);
    this.#lines = lines.filter((line) => line.matches(this.name));
    // OpenSSH, too, takes a key it knows from the usual port for one on another port; never the other way round.
    this.#elsewhere = port === 22 ? [] : lines.filter((line) => line.matches(host));
  }

  check(key: Buffer): KnownState {
    const same = (line: KnownLine): boolean => line.key.equals(key);
    if ([...this.#lines, ...this.#elsewhere].some((line) => line.revoked && same(line))) return 'revoked';
    const recorded = this.#lines.filter((line) => !line.revoked);
    if (recorded.some(same)) return 'known';
    if (recorded.length > 0) return 'changed';
    return this.#elsewhere.some((line) => !line.revoked && same(line)) ? 'known' : 'unknown';
  }

  /** The types recorded for it, so that they are asked for first and another type is not taken for a change. */
  get types(): readonly string[] {
    const lines = this.#lines.some((line) => !line.revoked) ? this.#lines : this.#elsewhere;
    return [...new Set(lines.filter((line) => !line.revoked).map((line) => line.type))];
  }
}

/** Reads what is there; a file that is missing says nothing. One that cannot be read may revoke any key: nothing goes on. */
export async function readKnownHosts(files: readonly string[]): Promise<KnownLine[]> {
  const texts = await Promise.all([...new Set(files)].map(readText));
  return texts.flatMap((text) => text.split('\n').flatMap((line) => parseKnownLine(line) ?? []));
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return '';
    throw remoteError('HOST_KEY_UNKNOWN', `No host key can be checked: ${file} cannot be read (${code}).`, {
      context: 'make the file readable, or remove it if it is not needed',
      cause: error,
    });
  }
}

/** The form names have in the files: lower case, and IPv6 as it was written. */
export const knownHostName = (host: string): string => (isIPv6(host) ? host : host.toLowerCase());
