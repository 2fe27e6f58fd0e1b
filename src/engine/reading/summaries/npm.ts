import { countsIn, type SummaryDraft, type Finding, matching } from './summary.ts';

const levels = { low: 'low', moderate: 'moderate', high: 'high', critical: 'critical', info: 'info' };

/** npm, yarn and pnpm, and the test runners their scripts are made of. */
export function npm(lines: readonly string[], words: readonly string[]): SummaryDraft | undefined {
  const errors = matching(lines, /^(?:npm (?:error|ERR!)|error(?= )|\s*ERR_PNPM_\w+|YN\d+:)\s?(.*)$/).filter(
    ({ match }) => match[1] !== '' && (words.length > 0 || !match[0].startsWith('error')),
  );
  const install = lines.findLast((line) =>
    /^(?:(?:added|removed|changed|audited) \d+ packages?|up to date)\b/.test(line),
  );
  const vulnerable = lines.findLast((line) => /^(?:found )?\d+ (?:\w+ severity )?vulnerabilit/.test(line));
  const scripts = matching(lines, /^> (\S+@\S+ )?([\w:.-]+)$/).map(({ match }) => match[2] ?? '');
  const tests = testRun(lines);
  const pnpm = lines.findLast((line) => /^Packages: [+-]\d/.test(line));
  const yarn = lines.findLast((line) => /^(?:Done in [\d.]+s|success )/.test(line));
  const isNpm = install ?? vulnerable ?? pnpm ?? (words.length > 0 ? yarn : undefined);
  const isError = errors.some(({ match }) => match[0].startsWith('npm') || words.length > 0);
  const isScript = words.length > 0 && scripts.length > 0;
  if (isNpm === undefined && !isError && !tests && !isScript) return undefined;
  const counts = {
    ...(install === undefined ? {} : installed(install)),
    ...(vulnerable === undefined ? {} : vulnerabilities(vulnerable)),
    ...tests?.counts,
  };
  const failed = isError || (tests?.counts['failed'] ?? 0) > 0 || (tests?.findings.length ?? 0) > 0;
  const field = (name: string): string | undefined =>
    errors.map(({ match }) => new RegExp(`^${name} (.+)`).exec(match[1] ?? '')?.[1]).find(Boolean);
  const [code, errno] = [field('code'), field('errno')];
  return {
    status: failed ? 'failed' : isNpm !== undefined || tests ? 'passed' : 'unknown',
    counts,
    facts: [
      ...(scripts.length > 0 ? [`script ${scripts[0]}`] : []),
      ...(code ? [`error code ${code}${errno ? `, errno ${errno}` : ''}`] : []),
      ...(install === undefined ? [] : [install]),
      ...(vulnerable === undefined ? [] : [vulnerable]),
    ],
    findings: [
      ...(tests?.findings ?? []),
      ...errors
        .map(({ line, match }) => ({ line, text: match[0] }))
        .filter(({ text }) => !/ (?:code|errno) |complete log|A complete|^npm \S+ {2,}at /.test(text)),
    ],
  };
}

function installed(line: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of ['added', 'removed', 'changed', 'audited']) {
    const count = new RegExp(`\\b${name} (\\d+)`).exec(line)?.[1];
    if (count !== undefined) counts[name] = Number(count);
  }
  return counts;
}

function vulnerabilities(line: string): Record<string, number> {
  const total = Number(/(\d+)/.exec(line)?.[1] ?? 0);
  const level = /^\d+ (\w+) severity/.exec(line)?.[1];
  return { vulnerabilities: total, ...(level === undefined ? countsIn(line, levels) : { [level]: total }) };
}

interface TestRun {
  readonly counts: Record<string, number>;
  readonly findings: readonly Finding[];
}

/** The last word of jest, vitest, mocha or node:test, if it was one of them. */
function testRun(lines: readonly string[]): TestRun | undefined {
  const words = { passed: 'passed', failed: 'failed', skipped: 'skipped', todo: 'todo', pending: 'skipped' };
  const jestOrVitest = lines.findLast((line) => /^\s*Tests:?\s+\d+ (?:passed|failed|skipped|todo)/.test(line));
  if (jestOrVitest !== undefined) {
    const names = matching(lines, /^\s*(?:●|FAIL)\s+(.+ (?:›|>) .+)$/);
    return {
      counts: countsIn(jestOrVitest, words),
      findings: unique(names.map(({ line, match }) => ({ line, text: `FAIL ${match[1]}` }))),
    };
  }
  const mocha = matching(lines, /^\s+(\d+) (passing|failing|pending)\b/);
  if (mocha.some(({ match }) => match[2] === 'passing')) {
    const counts: Record<string, number> = {};
    for (const { match } of mocha)
      counts[({ passing: 'passed', failing: 'failed', pending: 'skipped' } as const)[match[2] as 'passing']] = Number(
        match[1],
      );
    const from = mocha.find(({ match }) => match[2] === 'failing')?.line ?? lines.length;
    const names = matching(lines.slice(from), /^\s+\d+\) (.+)$/);
    return { counts, findings: names.map(({ line, match }) => ({ line: line + from, text: `FAIL ${match[1]}` })) };
  }
  const node = matching(lines, /^(?:#|ℹ) (pass|fail|skipped|cancelled|todo) (\d+)$/);
  if (!node.some(({ match }) => match[1] === 'pass') || !node.some(({ match }) => match[1] === 'fail'))
    return undefined;
  const name = { pass: 'passed', fail: 'failed' } as Record<string, string>;
  const failures = matching(lines, /^\s*(?:not ok \d+ - |✖ )(.+?)(?: \([\d.]+ms\))?$/).filter(
    ({ match }) => match[1] !== 'failing tests:',
  );
  return {
    counts: Object.fromEntries(node.map(({ match }) => [name[match[1] ?? ''] ?? match[1] ?? '', Number(match[2])])),
    findings: unique(failures.map(({ line, match }) => ({ line, text: `FAIL ${match[1]}` }))),
  };
}

function unique(findings: readonly Finding[]): Finding[] {
  const seen = new Set<string>();
  return findings.filter(({ text }) => !seen.has(text) && seen.add(text));
}
