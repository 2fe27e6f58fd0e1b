/** A tool's output in a few lines, for an answer without room for all of it. */
const summaryKinds = ['pytest', 'git', 'npm', 'cargo', 'make'] as const;
export type SummaryKind = (typeof summaryKinds)[number];

export interface Finding {
  /** Line of the full text, from 1. */
  readonly line: number;
  readonly text: string;
}

export interface Summary {
  readonly kind: SummaryKind | 'unknown';
  readonly status: 'passed' | 'failed' | 'unknown';
  readonly exitCode?: number;
  readonly counts: Readonly<Record<string, number>>;
  /** One-line facts that are no counts: a branch, a profile, a duration. */
  readonly facts: readonly string[];
  /** The first things that went wrong or matter. */
  readonly findings: readonly Finding[];
  /** All of the above in words, at most 2 KB. */
  readonly text: string;
}

export interface Hint {
  /** The command line the output is of. Without it the tool is told from the text. */
  readonly command?: string | undefined;
  readonly exitCode?: number | undefined;
}

/** What a summariser has to say; undefined when the text is not of its tool. */
export interface SummaryDraft {
  readonly status: 'passed' | 'failed' | 'unknown';
  readonly counts?: Readonly<Record<string, number>>;
  readonly facts?: readonly string[];
  readonly findings?: readonly Finding[];
}

/** `words` are those of the command after the tool's name; none when the tool was told from the text. */
export type Summariser = (lines: readonly string[], words: readonly string[]) => SummaryDraft | undefined;

export const unknownSummary: Summary = {
  kind: 'unknown',
  status: 'unknown',
  counts: {},
  facts: [],
  findings: [],
  text: '',
};

const mostFindings = 20;
const longestFinding = 200;
const largestText = 2000;

export function finish(kind: SummaryKind, draft: SummaryDraft, exitCode: number | undefined): Summary {
  // The exit code outranks what the output looks like.
  const status = exitCode === undefined ? draft.status : exitCode === 0 ? 'passed' : 'failed';
  const counts = Object.fromEntries(Object.entries(draft.counts ?? {}).filter(([, count]) => count > 0));
  const facts = (draft.facts ?? []).map((fact) => shorten(fact)).slice(0, 12);
  const all = draft.findings ?? [];
  const findings = all.slice(0, mostFindings).map(({ line, text }) => ({ line, text: shorten(text) }));
  const words = {
    kind,
    status,
    counts,
    facts,
    findings,
    ...(exitCode === undefined ? {} : { exitCode }),
  };
  return { ...words, text: inWords(words, all.length) };
}

function inWords(summary: Omit<Summary, 'text'>, findings: number): string {
  const counts = Object.entries(summary.counts).map(([name, count]) => `${count} ${name}`);
  const exit = summary.exitCode === undefined ? [] : [`exit code ${summary.exitCode}`];
  const first = [`${summary.kind}: ${summary.status}`, ...exit, ...counts].join(', ');
  const lines = [first, ...summary.facts];
  let size = Buffer.byteLength(lines.join('\n'));
  let shown = 0;
  for (const { line, text } of summary.findings) {
    const next = `line ${line}: ${text}`;
    size += Buffer.byteLength(next) + 1;
    if (size > largestText) break;
    lines.push(next);
    shown++;
  }
  if (shown < findings) lines.push(`(${findings - shown} more)`);
  return lines.join('\n');
}

function shorten(text: string): string {
  const line = text.trim().replace(/\s+/g, ' ');
  return line.length <= longestFinding ? line : `${[...line].slice(0, longestFinding - 1).join('')}…`;
}

/** Every match of the pattern in a line, with the line's number. */
export function matching(
  lines: readonly string[],
  pattern: RegExp,
): { readonly line: number; readonly match: RegExpExecArray }[] {
  const found: { line: number; match: RegExpExecArray }[] = [];
  lines.forEach((text, index) => {
    const match = pattern.exec(text);
    if (match) found.push({ line: index + 1, match });
  });
  return found;
}

/** `3 failed, 12 passed` → counts, under the names the table gives to the words. */
export function countsIn(text: string, names: Readonly<Record<string, string>>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const [, number = '', word = ''] of text.matchAll(/(\d+) ([a-z-]+)/gi)) {
    const name = names[word.toLowerCase()];
    if (name !== undefined) counts[name] = (counts[name] ?? 0) + Number(number);
  }
  return counts;
}
