import { countsIn, type SummaryDraft, type Finding, matching } from './summary.ts';

const testWords = { passed: 'passed', failed: 'failed', ignored: 'ignored', measured: 'measured' };

export function cargo(lines: readonly string[]): SummaryDraft | undefined {
  const compiled = matching(lines, /^\s*(?:Compiling|Checking) \S+ v\d/);
  const errors = problems(lines, /^error(?:\[(E\d+)\])?: (.+)$/);
  const warnings = problems(lines, /^warning(?:\[[^\]]+\])?: (.+)$/).filter(
    ({ text }) => !/generated \d+ warning|build failed/.test(text),
  );
  const results = matching(lines, /^test result: (ok|FAILED)\. (.+)$/);
  const failedTests = matching(lines, /^test (.+) \.\.\. FAILED$/);
  const [finished] = matching(lines, /^\s*Finished (.+)$/).slice(-1);
  const isCargo =
    compiled.length > 0 ||
    results.length > 0 ||
    finished ||
    matching(lines, /^error: could not (?:compile|find)|^error: (?:test|build) failed/).length > 0;
  if (!isCargo) return undefined;
  const counts: Record<string, number> = {
    compiled: compiled.length,
    errors: real(errors).length,
    warnings: warnings.length,
  };
  for (const { match } of results) {
    for (const [name, count] of Object.entries(countsIn(match[2] ?? '', testWords)))
      counts[name] = (counts[name] ?? 0) + count;
  }
  const failed = errors.length > 0 || failedTests.length > 0 || results.some(({ match }) => match[1] === 'FAILED');
  const passed = finished !== undefined || results.length > 0;
  return {
    status: failed ? 'failed' : passed ? 'passed' : 'unknown',
    counts,
    facts: finished ? [`finished ${finished.match[1]}`] : [],
    findings: [
      ...real(errors),
      ...failedTests.map(({ line, match }) => ({ line, text: `test ${match[1]} FAILED` })),
      ...panics(lines),
      ...(real(errors).length === 0 && failedTests.length === 0 ? [...errors, ...warnings] : []),
    ],
  };
}

/** Errors of the code, without those that only say that there were some. */
const real = (errors: readonly Finding[]): Finding[] =>
  errors.filter(
    ({ text }) => !/could not compile|test failed, to rerun|aborting due to|target.s. failed|build failed/.test(text),
  );

/** The message, and the place rustc names on one of the next lines. */
function problems(lines: readonly string[], pattern: RegExp): Finding[] {
  return matching(lines, pattern).map(({ line, match }) => {
    const place = lines
      .slice(line, line + 5)
      .map((next) => /^\s*--> (\S+:\d+:\d+)/.exec(next)?.[1])
      .find(Boolean);
    return { line, text: place === undefined ? match[0] : `${place}: ${match[0]}` };
  });
}

function panics(lines: readonly string[]): Finding[] {
  return matching(lines, /^thread '(.+?)'(?: \(\d+\))? panicked at (.+?):?$/).map(({ line, match }) => ({
    line,
    text: `${match[1]} panicked at ${match[2]}: ${lines[line] ?? ''}`,
  }));
}
