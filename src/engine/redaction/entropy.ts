import type { Span } from './span.ts';

/** Long random-looking strings without a name. */
const run = /[A-Za-z0-9+/_-]{38,}={0,2}/g;
const longest = 8192;
const minBits = 4;

export function highEntropy(text: string): Span[] {
  const spans: Span[] = [];
  for (const match of text.matchAll(run)) {
    const start = match.index;
    const end = start + match[0].length;
    if (looksRandom(match[0].slice(0, longest)) && !isKnownHarmless(text, start, end)) spans.push({ start, end });
  }
  return spans;
}

function looksRandom(word: string): boolean {
  const bare = word.replace(/^[=_-]+|[=_-]+$/g, '');
  if (bare.length < 40) return false;
  if (/^[0-9a-f]+$/.test(bare) || /^[0-9A-F]+$/.test(bare)) {
    return /[0-9]/.test(bare) && /[A-Fa-f]/.test(bare) && bitsPerChar(bare) >= 3;
  }
  return bitsPerChar(bare) >= minBits && !bare.split(/[-_/+=]+/).every(isWord);
}

/** A piece of a name, path or identifier: one case or humps of three letters and more, or short lower-case letters and digits. */
function isWord(piece: string): boolean {
  return /^(?:[a-z]{0,30}|[A-Z]{1,30}|[A-Za-z]?[a-z]{1,30}(?:[A-Z][a-z]{2,30}){0,8}|[0-9]{1,20}|[a-z0-9]{1,12}|[A-Za-z][a-z]{2,30}[0-9]{1,4})$/.test(
    piece,
  );
}

function isKnownHarmless(text: string, start: number, end: number): boolean {
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  const before = text.slice(Math.max(lineStart, start - 200), start);
  const word = text.slice(start, Math.min(end, start + longest));
  return (
    isPath(before, word) ||
    /(?:^|[^A-Za-z0-9])sha(?:1|224|256|384|512)[:-]$/i.test(before) ||
    /^sha(?:1|224|256|384|512)-/.test(word) ||
    /(?:^|\s)(?:ssh-(?:rsa|dss|ed25519)|ecdsa-sha2-nistp\d{3}|sk-\S{1,60}@openssh\.com)\s{1,4}$/.test(before) ||
    isChecksumLine(text, lineStart, start, end) ||
    (isHash(word) && isGitObject(before, text.slice(end, end + 16)))
  );
}

function isPath(before: string, word: string): boolean {
  // The run may be the middle of a path whose dots, tildes or spaces ended the run before it.
  const token = (/[^\s"'=:,()[\]{}<>|]*$/.exec(before.slice(-120))?.[0] ?? '') + word;
  if (/^(?:~|\.{0,2})\//.test(token) && token.indexOf('/', token.indexOf('/') + 1) > 0) return true;
  const pieces = token.split('/');
  return (
    pieces.length > 2 &&
    pieces.filter((piece) => /^[@A-Za-z0-9._-]+$/.test(piece) && piece.split(/[-_.@]+/).every(isWord)).length >=
      pieces.length - 1
  );
}

function isHash(word: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(word);
}

const gitWords =
  /(?:^|[^A-Za-z])(?:commits?|index|merge|tree|parent|object|blob|tag|reverts|revision|head|from|fetch|updating)[:=\s'"(^]{1,4}(?:[0-9a-f]{4,64}[\s.]{1,4}){0,3}$/i;

function isGitObject(before: string, after: string): boolean {
  return (
    gitWords.test(before) ||
    /^\s{1,2}(?:refs\/|HEAD\b|(?:commit|tree|blob|tag)\b)/.test(after) ||
    /\b(?:tree|blob|commit)\s+$/.test(before)
  );
}

/** A line as `sha256sum` and its like write it: digest, blank, mode, name; or `SHA256 (name) = digest`. */
function isChecksumLine(text: string, lineStart: number, start: number, end: number): boolean {
  if (![40, 56, 64, 96, 128].includes(end - start) || !/^[0-9a-fA-F]+$/.test(text.slice(start, end))) return false;
  const before = text.slice(lineStart, Math.min(start, lineStart + 300));
  if (/^\\?$/.test(before)) return /^ [ *]\S/.test(text.slice(end, end + 3));
  return /^(?:SHA|BLAKE|MD|RMD|SM)[A-Z0-9-]{0,12} ?\(.{1,255}\) = $/i.test(before);
}

function bitsPerChar(text: string): number {
  const counts = new Map<string, number>();
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}
