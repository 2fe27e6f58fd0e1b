import { createHmac, timingSafeEqual } from 'node:crypto';

export interface KnownLine {
  readonly revoked: boolean;
  /** Whether the line speaks of this name: a host, or `[host]:port`. */
  readonly matches: (name: string) => boolean;
  /** `ssh-ed25519` */
  readonly type: string;
  readonly key: Buffer;
}

/** One line of a known_hosts file; undefined when it says nothing we use: comments, authorities, damage. */
export function parseKnownLine(line: string): KnownLine | undefined {
  const words = line.trim().split(/\s+/);
  const marker = words[0]?.startsWith('@') ? words.shift() : undefined;
  const [names, type, blob] = words;
  if (names === undefined || names.startsWith('#') || type === undefined || blob === undefined) return undefined;
  if (marker !== undefined && marker !== '@revoked') return undefined;
  const key = Buffer.from(blob, 'base64');
  if (keyType(key) !== type) return undefined;
  return { revoked: marker === '@revoked', matches: matcher(names), type, key };
}

/** The type a public key says it has, in its first field. */
export function keyType(key: Buffer): string | undefined {
  if (key.length < 4) return undefined;
  const length = key.readUInt32BE(0);
  return length > 64 || key.length < 4 + length ? undefined : key.toString('latin1', 4, 4 + length);
}

function matcher(names: string): (name: string) => boolean {
  if (names.startsWith('|')) return hashed(names);
  const patterns = names.split(',').map((pattern) => {
    const negated = pattern.startsWith('!');
    return { negated, glob: globMatcher(negated ? pattern.slice(1) : pattern) };
  });
  return (name) => {
    const matching = patterns.filter(({ glob }) => glob(name));
    return matching.length > 0 && !matching.some(({ negated }) => negated);
  };
}

/** `|1|salt|hash`: the name is not in the file, only what it hashes to. */
function hashed(names: string): (name: string) => boolean {
  const [, version, salt, hash] = names.split('|');
  if (version !== '1' || salt === undefined || hash === undefined) return () => false;
  const expected = Buffer.from(hash, 'base64');
  const key = Buffer.from(salt, 'base64');
  if (expected.length !== 20) return () => false;
  return (name) => timingSafeEqual(createHmac('sha1', key).update(name.toLowerCase()).digest(), expected);
}

/** `*` and `?` of OpenSSH, without regard to case. */
export function globMatcher(pattern: string): (text: string) => boolean {
  const matches = exactGlobMatcher(pattern.toLowerCase());
  return (text) => matches(text.toLowerCase());
}

/** The same, with regard to case. Walks, so that no pattern can make it slow. */
export function exactGlobMatcher(glob: string): (text: string) => boolean {
  return (text) => {
    let star = -1;
    let retry = 0;
    let at = 0;
    let from = 0;
    while (from < text.length) {
      if (glob[at] === '*') {
        star = at;
        retry = from;
        at += 1;
      } else if (at < glob.length && (glob[at] === '?' || glob[at] === text[from])) {
        at += 1;
        from += 1;
      } else if (star >= 0) {
        retry += 1;
        from = retry;
        at = star + 1;
      } else return false;
    }
    while (glob[at] === '*') at += 1;
    return at === glob.length;
  };
}
