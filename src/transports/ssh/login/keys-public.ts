import { readFile } from 'node:fs/promises';

const magic = 'openssh-key-v1\0';

/** The public half of a key file that we cannot decrypt: from inside the new format, or from the `.pub` beside it. */
export async function publicHalf(path: string, text: string): Promise<Buffer | undefined> {
  return insideNewFormat(text) ?? (await besideIt(path));
}

function insideNewFormat(text: string): Buffer | undefined {
  const body = /-----BEGIN OPENSSH PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END/.exec(text)?.[1];
  if (body === undefined) return undefined;
  const bytes = Buffer.from(body, 'base64');
  if (bytes.subarray(0, magic.length).toString('latin1') !== magic) return undefined;
  let at = magic.length;
  const string = (): Buffer | undefined => {
    if (at + 4 > bytes.length) return undefined;
    const end = at + 4 + bytes.readUInt32BE(at);
    if (end > bytes.length) return undefined;
    const value = bytes.subarray(at + 4, end);
    at = end;
    return value;
  };
  // The names of the cipher and of the key derivation, its options, then how many keys follow.
  for (let skip = 0; skip < 3; skip += 1) if (string() === undefined) return undefined;
  at += 4;
  return string();
}

async function besideIt(path: string): Promise<Buffer | undefined> {
  const line = await readFile(`${path}.pub`, 'utf8').catch(() => '');
  const blob = line.trim().split(/\s+/)[1];
  return blob === undefined ? undefined : Buffer.from(blob, 'base64');
}
