import { createContext, Script } from 'node:vm';
import type { Span } from './span.ts';

/** A pattern that needs longer than this for one text is not used again: masking must never stall a terminal. */
const patienceMs = 50;
/** Time in which others had the processor is not the pattern's: it is tried again, so often. */
const mostTries = 5;
const longestPattern = 1_000;

/**
 * Patterns from the settings. Group `secret`, else group 1, else the whole match is masked. They run in a context of
 * their own because only there can a pattern that backtracks for ever be interrupted.
 */
export class CustomPatterns {
  readonly #report: (problem: string) => void;
  readonly #context: { text: string };
  #scripts: { readonly source: string; readonly find: Script }[] = [];

  constructor(sources: readonly string[], report: (problem: string) => void) {
    this.#report = report;
    this.#context = createContext({ text: '' }) as { text: string };
    for (const source of sources) {
      const problem = whyUnusable(source);
      if (problem === undefined) this.#scripts.push({ source, find: new Script(search(source)) });
      else report(`Pattern ${quoted(source)} is not used: ${problem}.`);
    }
  }

  find(text: string): Span[] {
    const spans: Span[] = [];
    this.#context.text = text;
    for (const script of this.#scripts) {
      const found = this.#run(script);
      for (let at = 0; at + 1 < found.length; at += 2) {
        spans.push({ start: found[at] as number, end: found[at + 1] as number });
      }
    }
    this.#context.text = '';
    return spans;
  }

  #run(script: { readonly source: string; readonly find: Script }): readonly number[] {
    for (let tries = 1; ; tries++) {
      const before = process.cpuUsage();
      try {
        return script.find.runInContext(this.#context, { timeout: patienceMs }) as readonly number[];
      } catch (thrown) {
        if (tries < mostTries && wasHeldUp(thrown, before)) continue;
        this.#scripts = this.#scripts.filter((other) => other !== script);
        this.#report(`Pattern ${quoted(script.source)} is no longer used: it took over ${patienceMs} ms.`);
        return [];
      }
    }
  }
}

/** The time was up, but this process had not even half of it. */
function wasHeldUp(thrown: unknown, before: NodeJS.CpuUsage): boolean {
  if ((thrown as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false;
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 < patienceMs / 2;
}

function search(source: string): string {
  return `[...text.matchAll(new RegExp(${JSON.stringify(source)}, 'dgu'))].flatMap((match) =>
    match.indices.groups?.secret ?? match.indices[1] ?? match.indices[0])`;
}

function whyUnusable(source: string): string | undefined {
  if (source.length > longestPattern) return `it is longer than ${longestPattern} characters`;
  try {
    return new RegExp(source, 'u').test('') ? 'it matches nothing at all' : undefined;
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}

function quoted(source: string): string {
  return JSON.stringify(source.slice(0, 80));
}
