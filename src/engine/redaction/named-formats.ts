import type { Span } from './span.ts';

/**
 * Secrets that are known by their looks: what each begins with (three characters and more), and what follows. Every
 * pattern ends in a character class, so a search never goes over the same text twice.
 */
const formats: readonly (readonly [starts: readonly string[], rest: string])[] = [
  [['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], '[A-Za-z0-9_]{16,255}'],
  [['github_pat_'], '[A-Za-z0-9_]{20,255}'],
  [
    ['glpat-', 'glptt-', 'gldt-', 'glrt-', 'glcbt-', 'glft-', 'gloas-', 'glsoat-', 'glagent-', 'glimt-', 'glffct-'],
    '[A-Za-z0-9_.-]{16,255}',
  ],
  [['GR1348941'], '[A-Za-z0-9_-]{16,64}'],
  [['glc_', 'glsa_'], '[A-Za-z0-9+/_]{30,400}={0,2}'],
  [['xoxa-', 'xoxb-', 'xoxe-', 'xoxe.', 'xoxo-', 'xoxp-', 'xoxr-', 'xoxs-', 'xapp-'], '[A-Za-z0-9.-]{10,255}'],
  [['sk-'], '(?=[a-z_-]{0,64}[0-9A-Z])[A-Za-z0-9_-]{8,255}'],
  [['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_'], '[A-Za-z0-9]{10,255}'],
  [['whsec_'], '[A-Za-z0-9+/]{16,255}'],
  [['gsk_'], '[A-Za-z0-9]{40,128}'],
  [['AKIA', 'ASIA', 'ABIA', 'ACCA', 'AGPA', 'AIDA', 'AIPA', 'ANPA', 'ANVA', 'AROA'], '[A-Z0-9]{16}(?![A-Za-z0-9])'],
  [['A3T'], '[A-Z0-9]{17}(?![A-Za-z0-9])'],
  [['AIza'], '[A-Za-z0-9_-]{30,64}'],
  [['ya29.'], '[A-Za-z0-9_-]{20,512}'],
  [['GOCSPX-'], '[A-Za-z0-9_-]{20,64}'],
  [['npm_'], '[A-Za-z0-9_]{30,64}'],
  [['pypi-'], '[A-Za-z0-9_-]{40,512}'],
  [['dckr_pat_', 'dckr_oat_'], '[A-Za-z0-9_-]{16,64}'],
  [['hf_'], '[A-Za-z0-9]{30,64}'],
  [['hvs.', 'hvb.', 'hvr.'], '[A-Za-z0-9_-]{20,255}'],
  [['SG.'], '[A-Za-z0-9_-]{16,128}\\.[A-Za-z0-9_-]{16,128}'],
  [['shpat_', 'shpca_', 'shppa_', 'shpss_'], '[A-Za-z0-9]{32,64}'],
  [['lin_api_', 'lin_oauth_'], '[A-Za-z0-9]{32,128}'],
  [['ntn_'], '[A-Za-z0-9]{40,64}'],
  [['ops_eyJ'], '[A-Za-z0-9_+/-]{40,4096}={0,2}'],
  [['vcp_', 'vci_', 'vca_', 'vcr_', 'vck_'], '[A-Za-z0-9]{20,128}'],
  [['dapi', 'dkea', 'dose'], '[A-Fa-f0-9]{32}(?:-[0-9])?(?![A-Za-z0-9])'],
  [['figd_', 'figo_', 'figu_'], '[A-Za-z0-9_-]{16,128}'],
  [['AGE-SECRET-KEY-1'], '[A-Z0-9]{40,64}'],
  [['eyJ'], '[A-Za-z0-9_-]{8,8192}\\.[A-Za-z0-9_-]{4,8192}(?:\\.[A-Za-z0-9_-]{0,2048}){0,3}'],
];

/** What tokens begin with, in their own capitals and not inside a word. */
export const tokenStarts: readonly string[] = formats.flatMap(([starts]) => starts);

const literal = (text: string): string => text.replaceAll('.', '\\.');
const token = new RegExp(
  `(?<![A-Za-z])(?:${formats.map(([starts, rest]) => `(?:${starts.map(literal).join('|')})${rest}`).join('|')})`,
  'g',
);

/** What comes before a secret, and the secret as group 1. */
const headers = [
  /\bauthorization\\?["']?[ \t]{0,4}[:=][ \t]{0,4}\\?["']?(?:(?:bearer|basic|token|digest|negotiate|apikey)[ \t]{1,4})?([^\s"'\\]{4,8192})/dgi,
  /\bbearer[ \t]{1,4}((?=[A-Za-z._~+/-]{0,64}[0-9])[A-Za-z0-9._~+/-]{12,8192}={0,2})/dgi,
  /\b(?<!set-)cookie\\?["']?[ \t]{0,4}:[ \t]{0,4}\\?["']?([^\s"'=;]{1,256}=[^"'\r\n]{1,8192})/dgi,
  /\bset-cookie\\?["']?[ \t]{0,4}:[ \t]{0,4}\\?["']?[^\s"'=;]{1,256}=([^\s"';]{1,8192})/dgi,
  /\bhooks\.slack\.com\/services\/([A-Za-z0-9/]{8,256})/dgi,
  /\blogin[ \t]{1,4}\S{1,256}[ \t]{1,4}password[ \t]{1,4}(\S{1,256})/dg,
];

const pemBegin = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const pemEnd = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;

export function namedFormats(text: string): Span[] {
  const spans: Span[] = [];
  for (const match of text.matchAll(token)) spans.push({ start: match.index, end: match.index + match[0].length });
  for (const header of headers) {
    for (const match of text.matchAll(header)) {
      const [start, end] = match.indices?.[1] ?? [0, 0];
      spans.push({ start, end });
    }
  }
  spans.push(...privateKeys(text).spans);
  return spans;
}

/** Private blocks; `openFrom` is the index of a BEGIN line whose END has not been seen. */
export function privateKeys(text: string): { spans: Span[]; openFrom: number | undefined } {
  const spans: Span[] = [];
  let from = 0;
  /** Once none is left it is not looked for again: a text of nothing but BEGIN lines would be read once for each. */
  let closed = true;
  if (!text.includes('-----BEGIN')) return { spans, openFrom: undefined };
  for (;;) {
    pemBegin.lastIndex = from;
    const begin = pemBegin.exec(text);
    if (begin === null) return { spans, openFrom: undefined };
    const bodyStart = begin.index + begin[0].length;
    pemEnd.lastIndex = bodyStart;
    const end: RegExpExecArray | null = closed ? pemEnd.exec(text) : null;
    closed = end !== null;
    const bodyEnd = end === null ? keyBodyEnd(text, bodyStart) : end.index;
    spans.push(trimmed(text, bodyStart, bodyEnd));
    if (end === null && bodyEnd === text.length) return { spans, openFrom: begin.index };
    from = bodyEnd;
  }
}

/** A block that is never closed ends at the first line that cannot be part of a key. */
function keyBodyEnd(text: string, from: number): number {
  const line = /[ \t]*(?:[A-Za-z0-9+/=]+|[A-Za-z-]+:[^\n]*)?[ \t\r]*(?:\n|$)/y;
  let at = from;
  while (at < text.length) {
    line.lastIndex = at;
    const match = line.exec(text);
    if (match === null || match[0].length === 0) return at;
    at += match[0].length;
  }
  return at;
}

function trimmed(text: string, start: number, end: number): Span {
  let [from, to] = [start, end];
  while (from < to && /\s/.test(text[from] as string)) from++;
  while (to > from && /\s/.test(text[to - 1] as string)) to--;
  return { start: from, end: to };
}
