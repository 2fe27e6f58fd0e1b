import { hostname } from 'node:os';
import { join } from 'node:path';
import type { ConfigQuery, RawSettings } from './match.ts';
import { expandHome } from '../login/keys.ts';

/** What the SSH config says about a host, as far as we heed it. Paths are absolute. */
export interface HostSettings {
  readonly hostName: string;
  readonly user?: string | undefined;
  readonly port?: number | undefined;
  readonly identityFiles: readonly string[];
  readonly identitiesOnly: boolean;
  /** A socket; null: no agent; undefined: the usual one. */
  readonly identityAgent?: string | null | undefined;
  /** `user@host:port,…` in the order of the way. */
  readonly proxyJump?: string | undefined;
  /** Known so that it can be refused. */
  readonly proxyCommand?: string | undefined;
  /** Instead of `~/.ssh/known_hosts`. */
  readonly userKnownHosts?: readonly string[] | undefined;
  readonly globalKnownHosts?: readonly string[] | undefined;
  /** Under which name its key is recorded. */
  readonly hostKeyAlias?: string | undefined;
  /** It may make the policy stricter, never weaker. */
  readonly strict: boolean;
  readonly connectTimeoutMs?: number | undefined;
}

export const knownKeywords: ReadonlySet<string> = new Set([
  'hostname',
  'user',
  'port',
  'identityfile',
  'identitiesonly',
  'identityagent',
  'proxyjump',
  'proxycommand',
  'userknownhostsfile',
  'globalknownhostsfile',
  'hostkeyalias',
  'stricthostkeychecking',
  'connecttimeout',
]);

/** What `ssh -G` prints when no key is configured. */
const defaultIdentity = /^(?:~|.*)\/\.ssh\/id_(?:rsa|dsa|ecdsa|ecdsa_sk|ed25519|ed25519_sk|xmss)$/;

/** Reads either resolver's answer: OpenSSH prints its defaults too, and neither expands file names. */
export function settingsFrom(
  raw: RawSettings,
  query: ConfigQuery,
  { home, env }: { readonly home: string; readonly env: Readonly<Record<string, string | undefined>> },
): HostSettings {
  const one = (keyword: string): string | undefined => {
    const value = raw.get(keyword)?.[0];
    return value === undefined || value.toLowerCase() === 'none' ? undefined : value;
  };
  const yes = (keyword: string): boolean => /^(?:yes|true)$/i.test(raw.get(keyword)?.[0] ?? '');
  const hostName = (one('hostname') ?? query.host).replaceAll('%h', query.host).replaceAll('%%', '%').toLowerCase();
  const port = query.port ?? (Number(one('port') ?? 0) || undefined);
  const user = query.user ?? one('user');
  const tokens: Readonly<Record<string, string>> = {
    '%': '%',
    d: home,
    h: hostName,
    n: query.host,
    p: String(port ?? 22),
    r: user ?? query.localUser,
    u: query.localUser,
    L: hostname().split('.')[0] ?? '',
    l: hostname(),
    k: one('hostkeyalias') ?? query.host,
  };
  const file = (path: string): string =>
    expandHome(path, home)
      .replaceAll(/%(.)/g, (token, letter: string) => tokens[letter] ?? token)
      .replaceAll(/\$\{(\w+)\}/g, (_variable, name: string) => env[name] ?? '');
  const identities = raw.get('identityfile') ?? [];
  const chosen = identities.length >= 5 && identities.every((path) => defaultIdentity.test(path)) ? [] : identities;
  return {
    hostName,
    user,
    // Port 22 is what everybody means who says nothing.
    port: port === 22 && query.port === undefined ? undefined : port,
    identityFiles: chosen.filter((path) => path.toLowerCase() !== 'none').map(file),
    identitiesOnly: yes('identitiesonly'),
    identityAgent: agent(raw.get('identityagent')?.[0], env, file),
    proxyJump: one('proxyjump'),
    proxyCommand: one('proxycommand'),
    userKnownHosts: files(raw.get('userknownhostsfile'), file, join(home, '.ssh', 'known_hosts')),
    globalKnownHosts: files(raw.get('globalknownhostsfile'), file, '/etc/ssh/ssh_known_hosts'),
    hostKeyAlias: one('hostkeyalias'),
    strict: yes('stricthostkeychecking'),
    connectTimeoutMs: seconds(one('connecttimeout')),
  };
}

function agent(
  value: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
  file: (path: string) => string,
): string | null | undefined {
  if (value === undefined || value === 'SSH_AUTH_SOCK') return undefined;
  if (value.toLowerCase() === 'none') return null;
  return value.startsWith('$') && /^\$\w+$/.test(value) ? env[value.slice(1)] : file(value);
}

/** Undefined when it is only what everybody has. */
function files(
  paths: readonly string[] | undefined,
  file: (path: string) => string,
  usual: string,
): string[] | undefined {
  if (paths === undefined) return undefined;
  const expanded = paths.filter((path) => path.toLowerCase() !== 'none').map(file);
  return expanded.length > 0 && expanded.every((path) => path.replace(/2$/, '') === usual) ? undefined : expanded;
}

/** `30`, `1m30s`; zero and nonsense are no limit. */
function seconds(text: string | undefined): number | undefined {
  if (text === undefined || !/^(?:\d+[smhdw]?)+$/i.test(text)) return undefined;
  const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };
  let total = 0;
  for (const [, count, unit = 's'] of text.matchAll(/(\d+)([smhdw]?)/gi)) {
    total += Number(count) * (units[unit.toLowerCase() || 's'] ?? 1);
  }
  return total === 0 ? undefined : total * 1000;
}
