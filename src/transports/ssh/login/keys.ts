import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { homedir } from 'node:os';
import ssh2, { type ParsedKey } from 'ssh2';
import { remoteError } from '../../../contract/remote-errors.ts';
import { publicHalf } from './keys-public.ts';

/** Far above any key; a path to something huge is a mistake. */
const maxBytes = 64 << 10;

export type KeyFile =
  | { readonly kind: 'key'; readonly path: string; readonly key: ParsedKey }
  /** It is encrypted; the agent may hold it. */
  | { readonly kind: 'encrypted'; readonly path: string; readonly publicKey: Buffer | undefined };

/** `~` and `~/…` of the given home; anything else unchanged. */
export const expandHome = (path: string, home: string = homedir()): string =>
  path === '~' || path.startsWith('~/') ? home + path.slice(1) : path;

/** Reads a private key. Rejects with AUTH_KEY_PARSE, whose text never holds anything of the file. */
export async function readKey(path: string): Promise<KeyFile> {
  const text = await readPrivately(path);
  const key = ssh2.utils.parseKey(text);
  if (!(key instanceof Error)) {
    if (key.isPrivateKey()) return { kind: 'key', path, key };
    throw bad(path, 'it holds a public key, not the private one');
  }
  if (/passphrase/i.test(key.message)) return { kind: 'encrypted', path, publicKey: await publicHalf(path, text) };
  throw bad(path, 'it is not a private key of a supported kind (ed25519, ecdsa, rsa)');
}

export const encryptedKey = (path: string) =>
  bad(path, 'it is encrypted; add it to the SSH agent with ssh-add, and no passphrase is needed here');

async function readPrivately(path: string): Promise<string> {
  let file: Awaited<ReturnType<typeof open>>;
  try {
    // Not blocking: a named pipe would hold up the call for ever.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    throw bad(path, `it cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`);
  }
  try {
    const facts = await file.stat();
    if (!facts.isFile()) throw bad(path, 'it is not a regular file');
    if (facts.size > maxBytes) throw bad(path, 'it is too large to be a key');
    if (process.getuid?.() === facts.uid && (facts.mode & 0o077) !== 0) {
      const mode = (facts.mode & 0o777).toString(8).padStart(4, '0');
      throw bad(path, `its permissions ${mode} let others read it; make it private with chmod 600`);
    }
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

const bad = (path: string, why: string) =>
  remoteError('AUTH_KEY_PARSE', `The key file ${path} cannot be used: ${why}.`, { data: { keyPath: path } });
