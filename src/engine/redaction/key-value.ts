import type { Span } from './span.ts';

/** Secrets that are known by the name they are given. The name may have any prefix; it must end in one of these. */
const names =
  /(?:passwords?|passwd|passphrase|passcode|secret(?:[_-]?(?:access[_-]?)?key(?:[_-]base)?)?|token|credentials?|api[_-]?key|access[_-]?key|auth[_-]?key|key|pass|pwd|_auth)(?:[_-]?\d{1,2})?(?![A-Za-z0-9_-])/gi;

/** Names that read as passwords: what follows a colon is masked to the end of the line, however plain it looks. */
const passwordLike = /(?:password|passwd|passphrase|passcode|_pass|_pwd|^pwd)\d*$/i;
const identifierLimit = 128;

export function keyValues(text: string): Span[] {
  const spans: Span[] = [];
  let done = 0;
  for (const match of text.matchAll(names)) {
    if (match.index < done) continue;
    const end = match.index + match[0].length;
    const start = identifierStart(text, match.index);
    const name = text.slice(start, end);
    if (!isSecretName(text, name, start)) continue;
    const span = value(text, name, start, end);
    if (span === undefined) continue;
    spans.push(span);
    done = span.end;
  }
  spans.push(...clientOptions(text));
  return spans;
}

function identifierStart(text: string, from: number): number {
  let at = from;
  const limit = Math.max(0, from - identifierLimit);
  while (at > limit && /[A-Za-z0-9_.-]/.test(text[at - 1] as string)) at--;
  return at;
}

const harmlessKeys =
  /(?:public|primary|foreign|partition|sort|cache|unique|composite|group|range|hash|row|host|hot|short|registry|map|object|storage|idempotency)[_.-]?key\d*$/i;

function isSecretName(text: string, name: string, start: number): boolean {
  if (/key\d*$/i.test(name)) {
    if (harmlessKeys.test(name)) return false;
    // `primary key`, `arrow key`: a word in a sentence. `monkey`: not a key at all.
    if (/^key\d*$/i.test(name)) return !/[A-Za-z][ \t]$/.test(text.slice(Math.max(0, start - 2), start));
    return (
      /(?:[_.-]key|[a-z0-9]Key|(?:api|access|secret|auth|private|encryption|signing)key)[_-]?\d*$/i.test(name) &&
      !/[a-z]{2}key\d*$/.test(name.replace(/(?:api|access|secret|auth|private|encryption|signing)key\d*$/i, ''))
    );
  }
  if (/pass\d*$/i.test(name)) return /[_.-]pass\d*$/i.test(name);
  if (/pwd\d*$/i.test(name)) return !/^(?:OLD)?PWD$/.test(name);
  return true;
}

/** The value that follows the name ending at `end`, without its quotes; undefined when nothing there is a secret. */
function value(text: string, name: string, start: number, end: number): Span | undefined {
  const option = /^--?[A-Za-z]/.test(name) && (start === 0 || /[\s"'`(]/.test(text[start - 1] as string));
  const separator = /\\?["'`]?\]?[ \t]{0,8}(?:=>|:=|=(?!=)|:(?![:/]))[ \t]{0,64}/y;
  const blank = /[ \t]{1,8}(?!-)/y;
  separator.lastIndex = end;
  blank.lastIndex = end;
  const between = separator.exec(text) ?? (option && name.startsWith('--') ? blank.exec(text) : null);
  if (between === null) return undefined;
  const from = end + between[0].length;
  const colonOrSpaced = /:|[ \t]=[ \t]/.test(between[0]);
  const quoted = quotedValue(text, from);
  const span = quoted ?? { start: from, end: bareEnd(text, from, passwordLike.test(name) && colonOrSpaced && !option) };
  if (span.end <= span.start) return undefined;
  const listing = between[0].includes(':') && quoted === undefined;
  return isHarmlessValue(text.slice(span.start, span.end), name, listing, quoted !== undefined) ? undefined : span;
}

function quotedValue(text: string, from: number): Span | undefined {
  const opening = /\\?(["'`])/y;
  opening.lastIndex = from;
  const match = opening.exec(text);
  if (match === null) return undefined;
  const start = from + match[0].length;
  const escaped = match[0].length === 2;
  for (let at = start; at < text.length; at++) {
    const char = text[at] as string;
    if (char === '\n') return { start, end: withoutTrailingBlank(text, start, at) };
    if (char === '\\' && !escaped) at++;
    else if (escaped ? char === '\\' && text[at + 1] === match[1] : char === match[1]) return { start, end: at };
  }
  return { start, end: text.length };
}

function bareEnd(text: string, from: number, toLineEnd: boolean): number {
  const rest = toLineEnd ? /[^\n]*/y : /[^\s"'`,;&|)}\]<>]*/y;
  rest.lastIndex = from;
  // An earlier mask is one word, whatever it is made of.
  const masked = /<redacted:[0-9a-f]{8}>/y;
  masked.lastIndex = from;
  const mask = masked.exec(text);
  if (mask !== null) return from + mask[0].length;
  const end = from + (rest.exec(text)?.[0].length ?? 0);
  return withoutTrailingBlank(text, from, end);
}

function withoutTrailingBlank(text: string, start: number, end: number): number {
  let at = end;
  while (at > start && /\s/.test(text[at - 1] as string)) at--;
  return at;
}

const nothing =
  /^(?:true|false|null|none|nil|undefined|yes|no|on|off|string|str|bool(?:ean)?|number|int|any|required|optional|\*+|•+|\.{3}|<redacted:[0-9a-f]{8}>|\$\{?\w+\}?|\$\([^\n]*|%\w+%|\{\{[^\n]*\}\})[,;]?$/i;

function isHarmlessValue(found: string, name: string, listing: boolean, quoted: boolean): boolean {
  if (nothing.test(found)) return true;
  if (passwordLike.test(name)) return /pwd\d*$/i.test(name) && /^[~/]/.test(found);
  const shouted = /^[A-Z0-9_]*_[A-Z0-9_]+$/.test(name);
  const plainWord = found.length < 8 && /^[A-Za-z]+$/.test(found);
  if (plainWord && (/^key\d*$/i.test(name) || (listing && !shouted))) return true;
  if (/^(?:~|\.{1,2})?\//.test(found) && /key\d*$/i.test(name)) return true;
  if (quoted) return false;
  // Code: a call, an index, a member of something.
  if (/^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*[([]/.test(found)) return true;
  return /^key\d*$/i.test(name) && /[./_-]/.test(found) && /^[A-Za-z]+(?:[./_-][A-Za-z]+)*$/.test(found);
}

/** Short options that mean a password only after a certain program. Group 1 of each is the secret, bare or quoted. */
const secretWord = `("[^"\\n]{1,256}"|'[^'\\n]{1,256}'|[^\\s"'-][^\\s"']{0,256})`;
const between = '(?:[ \\t][^\\n|;&]{0,400}?)?[ \\t]';
const clients = [
  `\\b(?:mysql(?:dump|admin|import|show|check)?|mariadb(?:-dump|-admin)?)\\b${between}-p${secretWord}`,
  `\\bsshpass[ \\t]{1,4}-p[ \\t]{0,4}${secretWord}`,
  `\\b(?:docker|podman|helm[ \\t]registry|nerdctl|buildah|skopeo|oras|az|oc|cf)[ \\t]login\\b${between}-p[ \\t=]{0,4}${secretWord}`,
  `\\bmongo(?:sh|dump|restore|export|import)?\\b${between}-p[ \\t]{0,4}${secretWord}`,
  `\\bredis-cli\\b${between}-a[ \\t]{1,4}${secretWord}`,
  `\\bldap(?:search|modify|add|delete|whoami|passwd)\\b${between}-w[ \\t]{0,4}${secretWord}`,
  `\\bcurl\\b${between}(?:-u|--user|-U|--proxy-user)[ \\t=]{0,4}["']?[^\\s:"']{1,128}:${secretWord}`,
].map((source) => new RegExp(source, 'dg'));
const anyClient = /\b(?:mysql|mariadb|sshpass|login|mongo|redis-cli|ldap|curl)/;

function clientOptions(text: string): Span[] {
  if (!anyClient.test(text)) return [];
  const spans: Span[] = [];
  for (const client of clients) {
    for (const match of text.matchAll(client)) {
      const [start, end] = match.indices?.[1] ?? [0, 0];
      const quoted = /^["']/.test(match[1] as string);
      spans.push(quoted ? { start: start + 1, end: end - 1 } : { start, end });
    }
  }
  return spans;
}
