import { userInfo } from 'node:os';
import { type ConfigTree, type ConfigNode, readConfig, unchanged } from './file.ts';
import { type ConfigQuery, evaluate, type RawSettings } from './match.ts';
import { askOpenSsh, findOpenSsh } from './openssh.ts';
import { type HostSettings, knownKeywords, settingsFrom } from './settings.ts';
import type { ConfiguredHost } from '../sessions/connect.ts';

/** As many answers as are kept for the same state of the files. */
const maxAnswers = 200;
const systemDefault = '/etc/ssh';

interface ConfigPlace {
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly systemFolder?: string | undefined;
  /** The home OpenSSH knows, whatever HOME says. */
  readonly accountHome?: string | undefined;
}

export interface Resolved {
  readonly settings: HostSettings;
  readonly warnings: readonly string[];
}

/**
 * The SSH config, asked of OpenSSH where there is one and read by ourselves where there is none. Both answers go
 * through `settingsFrom`. OpenSSH costs a process, so it is asked only when the files say something we use, and once
 * for the same question while they stay the same.
 */
export class SshConfig {
  readonly #place: ConfigPlace;
  readonly #localUser = userInfo().username;
  #tree: ConfigTree | undefined;
  #answers = new Map<string, Resolved>();
  #program: Promise<string | undefined> | undefined;

  constructor(place: ConfigPlace) {
    this.#place = place;
  }

  async resolve(asked: Omit<ConfigQuery, 'localUser'>, signal: AbortSignal): Promise<Resolved> {
    const tree = await this.#read();
    const query = { ...asked, localUser: this.#localUser };
    if (!saysSomething(tree.nodes)) return { settings: this.#settings(new Map(), query), warnings: [] };
    const key = JSON.stringify([query.host, query.user, query.port]);
    const before = this.#answers.get(key);
    if (before !== undefined) return before;
    const answer = await this.#ask(tree, query, signal);
    if (this.#answers.size >= maxAnswers) this.#answers.clear();
    if (this.#tree === tree) this.#answers.set(key, answer);
    return answer;
  }

  /** The hosts the config names outright, in its order. */
  async hosts(): Promise<ConfiguredHost[]> {
    const { nodes } = await this.#read();
    return concreteHosts(nodes).map((alias) => {
      const { settings } = evaluate(nodes, { host: alias, localUser: this.#localUser });
      const { hostName, user, port } = this.#settings(settings, { host: alias, localUser: this.#localUser });
      return { alias, ...(hostName !== alias && { hostName }), ...(user && { user }), ...(port && { port }) };
    });
  }

  async #read(): Promise<ConfigTree> {
    if (this.#tree !== undefined && (await unchanged(this.#tree))) return this.#tree;
    this.#answers = new Map();
    this.#tree = await readConfig(this.#place.home, this.#place.systemFolder ?? systemDefault);
    return this.#tree;
  }

  async #ask(tree: ConfigTree, query: ConfigQuery, signal: AbortSignal): Promise<Resolved> {
    const program = await this.#openSsh();
    if (program !== undefined) {
      const raw = await askOpenSsh(program, query, { env: this.#place.env }, signal);
      return { settings: this.#settings(raw, query), warnings: [] };
    }
    const { settings, skipped } = evaluate(tree.nodes, query);
    const warnings = skipped.map((name) => `a "Match ${name}" of the SSH config was left out: only OpenSSH decides it`);
    return { settings: this.#settings(settings, query), warnings };
  }

  /** OpenSSH reads the account's own files and no others; for another home we read ourselves. */
  #openSsh(): Promise<string | undefined> {
    const { home, systemFolder = systemDefault, env, accountHome = userInfo().homedir } = this.#place;
    if (home !== accountHome || systemFolder !== systemDefault) return Promise.resolve(undefined);
    this.#program ??= findOpenSsh(env['PATH']);
    return this.#program;
  }

  #settings(raw: RawSettings, query: ConfigQuery): HostSettings {
    return settingsFrom(raw, query, this.#place);
  }
}

const saysSomething = (nodes: readonly ConfigNode[]): boolean =>
  nodes.some((node) =>
    node.kind === 'include'
      ? saysSomething(node.nodes)
      : node.kind === 'option' && (knownKeywords.has(node.keyword) || node.keyword === 'canonicalizehostname'),
  );

function concreteHosts(nodes: readonly ConfigNode[]): string[] {
  const names = nodes.flatMap((node) => {
    if (node.kind === 'include') return concreteHosts(node.nodes);
    return node.kind === 'host' ? node.patterns.filter((pattern) => /^[^!*?-][^*?]*$/.test(pattern)) : [];
  });
  return [...new Set(names)];
}
