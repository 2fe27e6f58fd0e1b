import { type SummaryDraft, matching } from './summary.ts';

const stopped = /^(g?make(?:\[\d+\])?): \*\*\* (.+)$/;
const diagnostic = /^(.+?:\d+(?::\d+)?): (fatal error|error|warning): (.+)$/;
const linker = /: undefined reference to |^collect2: error: |^ld(?:\.\w+)?: |: multiple definition of /;

/** make, and the compilers it runs. */
export function make(lines: readonly string[], words: readonly string[]): SummaryDraft | undefined {
  const stops = matching(lines, stopped);
  const found = matching(lines, diagnostic);
  const errors = found.filter(({ match }) => match[2] !== 'warning');
  const links = matching(lines, linker);
  const done = matching(lines, /^g?make(?:\[\d+\])?: (Nothing to be done for .+|.+ is up to date\.)$/);
  const entered = matching(lines, /^g?make(?:\[\d+\])?: (Entering|Leaving) directory '?`?(.+?)'?$/);
  const isMake = stops.length > 0 || done.length > 0 || entered.length > 0;
  const isCompiler = words.length > 0 && (found.length > 0 || links.length > 0);
  if (!isMake && !isCompiler) return undefined;
  const [first] = stops;
  const [compiler] = errors;
  const target = /^\[(?:(.+?:\d+): )?(.+?)\] (?:Error (\d+)|(.+))$/.exec(first?.match[2] ?? '');
  const directories = first ? stackAt(entered, first.line) : [];
  return {
    status: stops.length > 0 || errors.length > 0 || links.length > 0 ? 'failed' : isMake ? 'passed' : 'unknown',
    counts: { errors: errors.length, warnings: found.length - errors.length },
    facts: [
      ...(target
        ? [
            `target ${target[2]} failed${target[1] ? ` at ${target[1]}` : ''}, ${target[3] ? `status ${target[3]}` : target[4]}`,
          ]
        : []),
      ...(directories.length > 0 ? [`in ${directories.join(' > ')}`] : []),
      ...(compiler ? [`first error at ${compiler.match[1]}: ${compiler.match[3]}`] : []),
      ...done.slice(0, 3).map(({ match }) => match[1] ?? ''),
    ],
    findings: [...errors, ...links, ...stops, ...(stops.length === 0 && errors.length === 0 ? found : [])]
      .map(({ line, match }) => ({ line, text: match.input }))
      .sort((a, b) => a.line - b.line),
  };
}

/** Directories that had been entered and not left before that line. */
function stackAt(
  entered: readonly { readonly line: number; readonly match: RegExpExecArray }[],
  line: number,
): string[] {
  const stack: string[] = [];
  for (const { match } of entered.filter((one) => one.line < line)) {
    if (match[1] === 'Entering') stack.push(match[2] ?? '');
    else stack.pop();
  }
  return stack;
}
