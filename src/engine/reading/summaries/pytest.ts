import { countsIn, type SummaryDraft, matching } from './summary.ts';

const names = {
  passed: 'passed',
  failed: 'failed',
  error: 'errors',
  errors: 'errors',
  skipped: 'skipped',
  xfailed: 'xfailed',
  xpassed: 'xpassed',
  warning: 'warnings',
  warnings: 'warnings',
  deselected: 'deselected',
};
const start = /^=+ test session starts =+$/;
/** With or without the rule around it, which `-q` leaves out. */
const end = /^(?:=+ )?((?:\d+ [a-z]+(?:, )?)+|no tests ran|no tests collected.*?) in (\d[\d.:]*s?)\b.*$/;
const verdict = /^(FAILED|ERROR) (.+?)(?: - (.*))?$/;

export function pytest(lines: readonly string[]): SummaryDraft | undefined {
  const last = matching(lines, end).findLast(
    ({ match }) => match[1]?.startsWith('no tests') || hasCounts(match[1] ?? ''),
  );
  const started = lines.some((line) => start.test(line));
  const verdicts = matching(lines, verdict).filter(({ match }) => /\.py|::/.test(match[2] ?? ''));
  if (!last && !started && verdicts.length === 0) return undefined;
  const counts = last ? countsIn(last.match[1] ?? '', names) : {};
  const failed = (counts['failed'] ?? 0) + (counts['errors'] ?? 0) > 0 || verdicts.length > 0;
  const collection = matching(lines, /^_+ ERROR collecting (.+?) _+$/);
  const [place] = matching(lines, /^(\S+\.py:\d+): ([A-Za-z_.]*(?:Error|Exception|Failed|Exit)\b.*)$/);
  const [interrupted] = matching(lines, /^!+ (.+?) !+$/);
  return {
    status: failed ? 'failed' : last && (counts['passed'] ?? 0) > 0 ? 'passed' : 'unknown',
    counts,
    facts: [
      ...(last
        ? [`${last.match[1]?.startsWith('no tests') ? `${last.match[1]}, ` : ''}took ${last.match[2]}`]
        : ['the end of the run is missing']),
      ...(place ? [`first failure at ${place.match[1]}: ${place.match[2]}`] : []),
      ...(interrupted ? [interrupted.match[1] ?? ''] : []),
    ],
    findings: [
      ...verdicts.map(({ line, match }) => ({ line, text: match[0] })),
      // The short summary names collection errors again; without it they are told from their headings.
      ...(verdicts.length > 0
        ? []
        : collection.map(({ line, match }) => ({ line, text: `ERROR collecting ${match[1]}` }))),
      ...(verdicts.length > 0
        ? []
        : matching(lines, /^_{3,} (.+?) _{3,}$/)
            .filter(({ match }) => !match[1]?.startsWith('ERROR collecting'))
            .map(({ line, match }) => ({ line, text: `FAILED ${match[1]}` }))),
    ],
  };
}

function hasCounts(text: string): boolean {
  return Object.keys(countsIn(text, names)).length > 0;
}
