import { cargo } from './cargo.ts';
import { commandWords } from './command-word.ts';
import { summariseGit } from './git.ts';
import { make } from './make.ts';
import { npm } from './npm.ts';
import { pytest } from './pytest.ts';
import { finish, type Hint, type Summariser, type Summary, type SummaryKind, unknownSummary } from './summary.ts';

export type { Finding, Hint, Summary, SummaryKind } from './summary.ts';

const summarisers: Readonly<Record<SummaryKind, Summariser>> = { pytest, cargo, npm, make, git: summariseGit };

const kindOfCommand: Readonly<Record<string, SummaryKind>> = {
  ...named('pytest', 'pytest py.test'),
  ...named('git', 'git'),
  ...named('npm', 'npm yarn pnpm jest vitest mocha'),
  ...named('cargo', 'cargo'),
  ...named('make', 'make gmake cc gcc g++ c++ clang clang++'),
};

/** What the output of a known tool comes to, or `unknown`: nothing is guessed. A pure function. */
export function summarise(text: string, { command = '', exitCode }: Hint = {}): Summary {
  const lines = linesOf(text);
  const [word = '', ...rest] = commandWords(command);
  if (word !== '') {
    const kind = kindOfCommand[word];
    const draft = kind && summarisers[kind](lines, [word, ...rest]);
    return kind && draft ? finish(kind, draft, exitCode) : unknownSummary;
  }
  for (const [kind, summariser] of Object.entries(summarisers) as [SummaryKind, Summariser][]) {
    const draft = summariser(lines, []);
    if (draft) return finish(kind, draft, exitCode);
  }
  return unknownSummary;
}

/** Longer lines are skipped: they hold no facts, and could slow the patterns down. */
const longestLine = 400;
/** In longer output only the head and the tail are read. */
const headLines = 10_000;
const tailLines = 20_000;

/** Rendered text has no escapes in it; raw output does, and overwrites what it printed before a CR. */
function linesOf(text: string): readonly string[] {
  const lines = text.split('\n');
  return lines.map((line, index) => {
    if (index >= headLines && index < lines.length - tailLines) return '';
    const plain = line.includes('\x1b') ? line.slice(0, 4 * longestLine).replace(escapes, '') : line;
    const whole = plain.slice(0, longestLine).replace(/\r+$/, '');
    return whole.slice(whole.lastIndexOf('\r') + 1);
  });
}

const escapes = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[()][0-9A-Za-z]|[@-_])/g;

function named(kind: SummaryKind, words: string): Record<string, SummaryKind> {
  return Object.fromEntries(words.split(' ').map((word) => [word, kind]));
}
