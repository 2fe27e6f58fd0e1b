import { join } from 'node:path';
import { FairleadError } from '../../contract/errors.ts';
import { quote } from '../../contract/quote.ts';
import type { Clock } from '../../lib/clock.ts';
import { refusal } from '../../system/files/json-problem.ts';
import { serviceKey } from '../call/service.ts';
import { StateFile, type WatchedFile } from '../../system/files/state-file.ts';
import { detectProxy, type ProxySurroundings } from './detect.ts';
import { accepts } from './probe.ts';
import { abortable } from '../../system/abortable.ts';
import { type HostPort, tunnels } from './tunnel.ts';
import {
  type Detected,
  type Effective,
  effective,
  endpoint,
  masked,
  type ProxyNode,
  ProxySettings,
  variables,
} from './settings.ts';

interface ProxiesOptions {
  readonly root: string;
  readonly clock: Clock;
  readonly warn: (message: string) => void;
  readonly around: ProxySurroundings;
}

/** Lifetime of a detection result. */
const believedMs = 5000;
const reachMs = 300;

/** The proxies new terminals are told of: what the person set, or what this machine uses. */
export class Proxies implements AsyncDisposable {
  readonly #file: StateFile<typeof ProxySettings>;
  readonly #options: ProxiesOptions;
  readonly #ending = new AbortController();
  #detected: { readonly atMs: number; readonly found: Promise<Detected | undefined> } | undefined;

  constructor(options: ProxiesOptions) {
    this.#options = options;
    const { root, clock, warn } = options;
    this.#file = new StateFile({ path: join(root, 'proxy.json'), schema: ProxySettings, clock, warn });
  }

  get settings(): ProxySettings {
    return this.#file.get();
  }

  get file(): WatchedFile {
    return this.#file;
  }

  /** Why the file cannot be used, and where; undefined when it can. */
  get problem(): string | undefined {
    return this.#file.complaint;
  }

  /** Refused while the file is malformed: a write would lose the person's edits. */
  change(change: Partial<ProxySettings>): ProxySettings {
    return this.#file.update((now) => ({ ...now, ...change }));
  }

  /** What holds now; undefined when proxies are off. */
  async current(signal: AbortSignal): Promise<Effective | undefined> {
    const { settings } = this;
    if (!settings.enabled || settings.mode === 'off') return undefined;
    const stored = settings.http_proxy ?? settings.socks_proxy;
    const detected = settings.mode === 'manual' && stored !== null ? undefined : await this.#detect(signal);
    return effective(settings, detected);
  }

  /** Upper-case names only; empty when off. */
  async variables(signal: AbortSignal): Promise<Record<string, string>> {
    const found = await this.current(signal);
    return found === undefined ? {} : variables(found, this.settings.no_proxy);
  }

  async health(signal: AbortSignal) {
    const found = await this.current(signal);
    if (found === undefined) return null;
    const url = found.http ?? found.socks;
    const limitMs = this.#options.around.limits?.reachMs ?? reachMs;
    const reachable = url !== undefined && (await accepts(url, limitMs, signal)) !== undefined;
    const missing = url === undefined ? 'No proxy was found.' : 'It does not answer: is the proxy running?';
    const hint = found.hint ?? (reachable ? undefined : missing);
    return { source: found.source, url: url ?? null, reachable, ...(hint === undefined ? {} : { hint }) };
  }

  node(name: string): ProxyNode {
    const found = this.settings.nodes.find((node) => node.name === name);
    if (found) return found;
    // The file that holds its nodes is unreadable.
    if (this.#file.problem !== undefined) throw refusal(this.#file.path, this.#file.problem);
    const names = this.settings.nodes.map((node) => node.name);
    throw new FairleadError('not_found', `Proxy node '${quote(name)}' not found`, {
      hint: names.length === 0 ? 'None is configured.' : `Configured: ${names.join(', ')}.`,
    });
  }

  /** A socks node goes where socks proxies go. */
  switchTo(name: string): ProxySettings {
    const { url } = this.node(name);
    const place = endpoint(url);
    if (place === undefined) {
      throw new FairleadError('invalid_input', `${quote(masked(url))} is not the address of a proxy`, {
        hint: `Give node ${quote(name)} an address like http://host:port or socks5://host:port.`,
      });
    }
    const { socks } = place;
    const address = { http_proxy: socks ? null : url, socks_proxy: socks ? url : null };
    return this.change({ enabled: true, mode: 'manual', current_node: name, ...address });
  }

  /** Probes nodes concurrently and keeps the results: whether they accept, or connect to a host behind them. */
  async test(
    names: readonly string[],
    { limitMs, through }: { readonly limitMs: number; readonly through?: HostPort | undefined },
    signal: AbortSignal,
  ): Promise<ProxyNode[]> {
    const tested = await Promise.all(
      names.map(async (name): Promise<ProxyNode> => {
        const node = this.node(name);
        const latency = await (through === undefined
          ? accepts(node.url, limitMs, signal)
          : tunnels(node.url, through, limitMs, signal));
        return { ...node, latency_ms: latency ?? null, available: latency !== undefined };
      }),
    );
    const byName = new Map(tested.map((node) => [node.name, node]));
    this.change({ nodes: this.settings.nodes.map((node) => byName.get(node.name) ?? node) });
    return tested;
  }

  #detect(signal: AbortSignal): Promise<Detected | undefined> {
    const now = this.#options.clock.monotonic();
    if (this.#detected === undefined || now - this.#detected.atMs > believedMs) {
      // Shared by all callers of the next seconds: the first of them may hang up.
      this.#detected = { atMs: now, found: detectProxy(this.#options.around, this.#ending.signal) };
    }
    return abortable(this.#detected.found, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
  }
}

export const proxies = serviceKey<Proxies>('proxy settings');
