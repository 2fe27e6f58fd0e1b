import type { ConfigNode } from './file.ts';
import { exactGlobMatcher, globMatcher } from '../login/known-hosts-line.ts';

/** Keyword in lower case → its words, as `ssh -G` prints them: the first setting wins, IdentityFile adds up. */
export type RawSettings = ReadonlyMap<string, readonly string[]>;

export interface ConfigQuery {
  /** As it was written by the caller. */
  readonly host: string;
  readonly user?: string | undefined;
  readonly port?: number | undefined;
  readonly localUser: string;
}

interface Evaluated {
  readonly settings: RawSettings;
  /** Conditions we do not decide, such as `exec`: their blocks were left out. */
  readonly skipped: readonly string[];
}

/** Options whose value is the rest of the line, a command for a shell. */
const commands: ReadonlySet<string> = new Set(['proxycommand', 'localcommand', 'remotecommand', 'knownhostscommand']);

/** What a config says about one host, by the rules of ssh_config(5). `Match exec` is never run: it does not match. */
export function evaluate(nodes: readonly ConfigNode[], query: ConfigQuery): Evaluated {
  const state = new Evaluation(query);
  state.walk(nodes, true);
  if (state.wantsFinalPass) {
    state.final = true;
    state.walk(nodes, true);
  }
  return { settings: state.settings, skipped: [...state.skipped] };
}

class Evaluation {
  readonly settings = new Map<string, string[]>();
  readonly skipped = new Set<string>();
  wantsFinalPass = false;
  final = false;
  readonly #query: ConfigQuery;

  constructor(query: ConfigQuery) {
    this.#query = query;
    if (query.user !== undefined) this.settings.set('user', [query.user]);
    if (query.port !== undefined) this.settings.set('port', [String(query.port)]);
  }

  /** `may`: whether the place that includes these lines is in force; nothing in them can be if it is not. */
  walk(nodes: readonly ConfigNode[], may: boolean): void {
    let on = may;
    for (const node of nodes) {
      if (node.kind === 'host') on = may && this.#host(node.patterns);
      else if (node.kind === 'match') on = this.#match(node.criteria) && may;
      else if (node.kind === 'include') this.walk(node.nodes, on);
      else if (on) this.#set(node.keyword, commands.has(node.keyword) ? [node.rest] : node.args);
    }
  }

  #set(keyword: string, args: readonly string[]): void {
    if (args.length === 0) return;
    const before = this.settings.get(keyword);
    if (keyword === 'identityfile') {
      const [file] = args;
      if (file !== undefined && !before?.includes(file)) this.settings.set(keyword, [...(before ?? []), file]);
      return;
    }
    // The two are one setting: the first of them wins.
    const rival = { proxyjump: 'proxycommand', proxycommand: 'proxyjump' }[keyword];
    if (before === undefined && (rival === undefined || !this.settings.has(rival)))
      this.settings.set(keyword, [...args]);
  }

  #host(patterns: readonly string[]): boolean {
    // After the first pass OpenSSH goes by the name it will dial.
    return matchesAny(patterns, this.final ? this.#dialled() : this.#query.host, exactGlobMatcher);
  }

  #dialled(): string {
    const name = this.settings.get('hostname')?.[0];
    return name === undefined ? this.#query.host : name.replaceAll('%h', this.#query.host).replaceAll('%%', '%');
  }

  #match(criteria: readonly string[]): boolean {
    let result = true;
    for (let at = 0; at < criteria.length; at += 1) {
      const word = criteria[at] ?? '';
      const negated = word.startsWith('!');
      const name = (negated ? word.slice(1) : word).toLowerCase();
      if (name === 'all') continue;
      if (name === 'final' || name === 'canonical') {
        if (name === 'final') this.wantsFinalPass = true;
        if (this.final === negated) result = false;
        continue;
      }
      at += 1;
      const holds = this.#criterion(name, criteria[at] ?? '');
      // What we cannot decide does not hold, negated or not.
      if (holds === undefined || holds === negated) result = false;
    }
    return result;
  }

  #criterion(name: string, argument: string): boolean | undefined {
    const patterns = argument.split(',');
    const { host, localUser } = this.#query;
    if (name === 'host') return matchesAny(patterns, this.#dialled(), globMatcher);
    if (name === 'originalhost') return matchesAny(patterns, host, globMatcher);
    if (name === 'user') return matchesAny(patterns, this.settings.get('user')?.[0] ?? localUser, exactGlobMatcher);
    if (name === 'localuser') return matchesAny(patterns, localUser, exactGlobMatcher);
    this.skipped.add(name);
    return undefined;
  }
}

/** At least one pattern matches and none of the negated ones does. */
function matchesAny(patterns: readonly string[], text: string, glob: typeof globMatcher): boolean {
  const matching = patterns.filter((pattern) => glob(pattern.replace(/^!/, ''))(text));
  return matching.length > 0 && !matching.some((pattern) => pattern.startsWith('!'));
}
