import { gitDiff, gitLog, gitStatus } from './git-reports.ts';
import { type SummaryDraft, matching } from './summary.ts';

/** By subcommand; without a command line, whichever kind of output it is beyond doubt. */
export function summariseGit(lines: readonly string[], words: readonly string[]): SummaryDraft | undefined {
  const command = subcommand(words);
  const problems = matching(lines, /^(?:fatal|error|CONFLICT \([^)]*\)): ?.*$/);
  const draft = command === undefined ? detect(lines) : (reports[command] ?? transfer)(lines, true);
  const isGit = draft !== undefined || (command !== undefined && problems.length > 0);
  if (!isGit) return undefined;
  const known = new Set(draft?.findings?.map(({ line }) => line));
  const others = problems.filter(({ line }) => !known.has(line)).map(({ line, match }) => ({ line, text: match[0] }));
  const { status = 'unknown', counts = {}, facts = [], findings = [] } = draft ?? {};
  return { status: others.length > 0 ? 'failed' : status, counts, facts, findings: [...others, ...findings] };
}

type Report = (lines: readonly string[], certain: boolean) => SummaryDraft | undefined;

const reports: Readonly<Record<string, Report>> = {
  status: gitStatus,
  diff: gitDiff,
  show: gitDiff,
  log: gitLog,
  commit: gitDiff,
};

const detect: (lines: readonly string[]) => SummaryDraft | undefined = (lines) =>
  gitStatus(lines) ?? gitLog(lines, false) ?? transfer(lines, false) ?? gitDiff(lines);

function subcommand(words: readonly string[]): string | undefined {
  if (words.length === 0) return undefined;
  let at = 1;
  while ((words[at] ?? '').startsWith('-')) at += /^-[cC]$/.test(words[at] ?? '') ? 2 : 1;
  return words[at] ?? '';
}

/** push, pull, fetch, merge, rebase, cherry-pick, clone: refs that moved or did not, and conflicts. */
function transfer(lines: readonly string[], certain: boolean): SummaryDraft | undefined {
  const refs = matching(
    lines,
    /^ ([ *+\-=!t]) (\[[^\]]+\]|[0-9a-f]{7,40}\.{2,3}[0-9a-f]{7,40})\s+(\S+)\s+->\s+(\S+)(?:\s+\((.+)\))?/,
  );
  const rejected = refs.filter(({ match }) => match[1] === '!');
  const conflicts = matching(lines, /^CONFLICT \(([^)]*)\): (.+)$/);
  const stuck = matching(
    lines,
    /^(?:error|warning): could not apply |^Automatic merge failed|^error: failed to push some refs/,
  );
  const outcome = matching(
    lines,
    /^(Everything up-to-date|Already up to date\.|Current branch .+ is up to date\.|Fast-forward|Merge made by .+|Successfully rebased and updated .+|Updating [0-9a-f]+\.\.[0-9a-f]+|Cloning into .+)$/,
  );
  const stat = matching(lines, /^ (\d+ files? changed.*)$/);
  const sure =
    refs.length + conflicts.length + stuck.length > 0 ||
    outcome.some(({ match }) => !/^Updating|^Fast/.test(match[0]) || certain);
  if (!sure) return undefined;
  const failed = rejected.length + conflicts.length + stuck.length > 0;
  return {
    status: failed ? 'failed' : 'passed',
    counts: { 'refs updated': refs.length - rejected.length, rejected: rejected.length, conflicts: conflicts.length },
    facts: [...outcome, ...stat].map(({ match }) => match[0].trim()),
    findings: [
      ...rejected.map(({ line, match }) => ({
        line,
        text: `rejected ${match[3]} -> ${match[4]}: ${match[5] ?? match[2]}`,
      })),
      ...conflicts.map(({ line, match }) => ({ line, text: match[0] })),
      ...stuck.map(({ line, match }) => ({ line, text: match.input })),
      ...(failed ? [] : refs.map(({ line, match }) => ({ line, text: match[0] }))),
    ],
  };
}
