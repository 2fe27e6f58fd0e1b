import { type SummaryDraft, type Finding, matching } from './summary.ts';

const sections: Readonly<Record<string, string>> = {
  'Changes to be committed:': 'staged',
  'Changes not staged for commit:': 'unstaged',
  'Untracked files:': 'untracked',
  'Unmerged paths:': 'conflicted',
};

export function gitStatus(lines: readonly string[]): SummaryDraft | undefined {
  const branch = lines.find((line) => /^(?:On branch |HEAD detached |Not currently on any branch)/.test(line));
  if (branch === undefined) return shortStatus(lines);
  const counts: Record<string, number> = {};
  const findings: Finding[] = [];
  let section: string | undefined;
  lines.forEach((text, index) => {
    if (/^\S/.test(text)) section = sections[text.trim()];
    // A hint in parentheses is no file.
    else if (section !== undefined && /^\s+[^(\s]/.test(text)) {
      counts[section] = (counts[section] ?? 0) + 1;
      findings.push({ line: index + 1, text: `${section} ${text.trim()}` });
    }
  });
  const upstream = lines.filter((line) => /^(?:Your branch |and have \d+ and \d+ different)/.test(line));
  const state = lines.filter((line) =>
    /^(?:nothing to commit|no changes added|nothing added|You have unmerged paths|(?:interactive )?rebase in progress|You are currently |All conflicts fixed)/.test(
      line,
    ),
  );
  // Conflicts first: they are what stops everything else.
  findings.sort(
    (a, b) => Number(b.text.startsWith('conflicted')) - Number(a.text.startsWith('conflicted')) || a.line - b.line,
  );
  return { status: 'passed', counts, facts: [branch, upstream.join(' '), ...state].filter(Boolean), findings };
}

/** `git status --short`, only with the branch line that `-b` adds: without it, other text looks the same. */
function shortStatus(lines: readonly string[]): SummaryDraft | undefined {
  const branch = lines.findIndex((line) => /^## \S/.test(line));
  if (branch === -1) return undefined;
  const entries = matching(lines.slice(branch + 1), /^([ MADRCUT?!]{2}) (.+)$/);
  const counts: Record<string, number> = {};
  const findings = entries.map(({ line, match }) => {
    const [, code = '', name = ''] = match;
    for (const kind of kindsOf(code)) counts[kind] = (counts[kind] ?? 0) + 1;
    return { line: line + branch + 1, text: `${code.trim()} ${name}` };
  });
  return { status: 'passed', counts, facts: [lines[branch] ?? ''], findings };
}

function kindsOf(code: string): string[] {
  if (code === '??') return ['untracked'];
  if (/U|AA|DD/.test(code)) return ['conflicted'];
  return [...(/^[^ ?!]/.test(code) ? ['staged'] : []), ...(/^.[^ ?!]/.test(code) ? ['unstaged'] : [])];
}

export function gitDiff(lines: readonly string[]): SummaryDraft | undefined {
  const total = matching(lines, /^ (\d+) files? changed(?:, (\d+) insertions?\(\+\))?(?:, (\d+) deletions?\(-\))?$/).at(
    -1,
  );
  const files = matching(lines, /^diff --git a\/(.+) b\/(.+)$/);
  if (!total && files.length === 0) return undefined;
  if (total) {
    const [, changed = '0', plus = '0', minus = '0'] = total.match;
    const stat = matching(lines, /^ \S[^|]*\| +(?:\d+|Bin)\b/);
    return {
      status: 'passed',
      counts: { 'files changed': Number(changed), '+': Number(plus), '-': Number(minus) },
      findings: stat.map(({ line, match }) => ({ line, text: match.input.trim() })),
    };
  }
  return {
    status: 'passed',
    counts: { files: files.length, ...changes(lines) },
    findings: files.map(({ line, match }) => ({ line, text: match[2] ?? '' })),
  };
}

/** Lines added and removed within the hunks. */
function changes(lines: readonly string[]): Record<string, number> {
  let plus = 0;
  let minus = 0;
  let inHunk = false;
  for (const line of lines) {
    if (line.startsWith('diff --git ')) inHunk = false;
    else if (line.startsWith('@@ ')) inHunk = true;
    else if (inHunk && line.startsWith('+')) plus++;
    else if (inHunk && line.startsWith('-')) minus++;
  }
  return { '+': plus, '-': minus };
}

export function gitLog(lines: readonly string[], certain: boolean): SummaryDraft | undefined {
  const commits = matching(lines, /^commit ([0-9a-f]{40})(?: \(.*\))?$/);
  if (commits.length > 0) {
    const title = (line: number): string =>
      lines
        .slice(line, line + 12)
        .find((text) => /^ {4}\S/.test(text))
        ?.trim() ?? '';
    return ends(commits.map(({ line, match }) => ({ line, text: `${match[1]?.slice(0, 10)} ${title(line)}` })));
  }
  if (!certain) return undefined;
  const short = matching(lines, /^(?:[*|\\/ _]+)?([0-9a-f]{7,40}) (?:\(.*?\) )?(.+)$/);
  return short.length === 0
    ? undefined
    : ends(short.map(({ line, match }) => ({ line, text: `${match[1]} ${match[2]}` })));
}

function ends(commits: readonly Finding[]): SummaryDraft {
  const [first] = commits;
  const last = commits.at(-1);
  return {
    status: 'passed',
    counts: { commits: commits.length },
    findings: [first, ...(commits.length > 1 ? [last] : [])].filter((one) => one !== undefined),
  };
}
