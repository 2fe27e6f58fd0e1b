import { z } from 'zod';

export const ProxyNode = z.object({
  name: z.string().min(1).max(100),
  url: z.string().min(1).max(2000),
  latency_ms: z.number().nullable().default(null),
  available: z.boolean().nullable().default(null),
});
export type ProxyNode = z.output<typeof ProxyNode>;

/** The person's proxy settings: the file `proxy.json`. Detection results are never written to it. */
export const ProxySettings = z.object({
  enabled: z.boolean().default(false),
  mode: z.enum(['off', 'manual', 'auto']).catch('auto').default('off'),
  http_proxy: z.string().nullable().default(null),
  socks_proxy: z.string().nullable().default(null),
  no_proxy: z.string().default('localhost,127.0.0.1,::1'),
  nodes: z.array(ProxyNode).max(1000).default([]),
  current_node: z.string().nullable().default(null),
});
export type ProxySettings = z.output<typeof ProxySettings>;

/** What a search for proxies found. */
export interface Detected {
  readonly source: string;
  readonly http: string | undefined;
  readonly socks: string | undefined;
  /** Why a setting of the system cannot be used. */
  readonly hint?: string;
}

export interface Effective {
  readonly source: string;
  readonly http: string | undefined;
  readonly socks: string | undefined;
  readonly hint?: string;
}

/** Manual settings win in manual mode; otherwise detected ones do, and stored ones fill the gaps. */
export function effective(settings: ProxySettings, detected: Detected | undefined): Effective {
  const [http, socks] = [settings.http_proxy ?? undefined, settings.socks_proxy ?? undefined];
  const hint = detected?.hint === undefined ? {} : { hint: detected.hint };
  if (settings.mode === 'manual' && (http !== undefined || socks !== undefined))
    return { source: 'manual', http, socks };
  if (settings.mode === 'manual' && detected === undefined) {
    return { source: 'manual', http, socks, hint: 'No proxy is set: configure http_proxy or socks_proxy.' };
  }
  const source = detected?.http !== undefined || detected?.socks !== undefined ? detected.source : 'auto';
  return { source, http: detected?.http ?? http, socks: detected?.socks ?? socks, ...hint };
}

/** Variables for programs, in the two spellings they look for. */
export function variables({ http, socks }: Effective, noProxy: string): Record<string, string> {
  const upper: Record<string, string> = {
    ...(http === undefined ? {} : { HTTP_PROXY: http, HTTPS_PROXY: http }),
    ...(socks === undefined ? {} : { ALL_PROXY: socks }),
    ...(noProxy === '' ? {} : { NO_PROXY: noProxy }),
  };
  return upper;
}

export const bothSpellings = (upper: Readonly<Record<string, string>>): Record<string, string> => ({
  ...upper,
  ...Object.fromEntries(Object.entries(upper).map(([name, value]) => [name.toLowerCase(), value])),
});

/**
 * The address with its password masked, from the first colon after the name to the last @: people do not escape passwords
 *.
 */
export const masked = (url: string): string =>
  url.replace(/^([a-z][a-z0-9+.-]*:\/\/)?([^:]*):(?!\/\/).*@/is, '$1$2:•••@');

/** Host and port of a proxy's address; undefined when it is none. */
export function endpoint(
  url: string,
): { readonly host: string; readonly port: number; readonly socks: boolean } | undefined {
  try {
    const parsed = new URL(url.includes('://') ? url : `http://${url}`);
    if (!/^(?:https?|socks(?:4a?|5h?)?):$/.test(parsed.protocol)) return undefined;
    const socks = parsed.protocol.startsWith('socks');
    const port = Number(parsed.port || (socks ? 1080 : parsed.protocol === 'https:' ? 443 : 80));
    const host = parsed.hostname.replace(/^\[|\]$/g, '');
    return host === '' ? undefined : { host, port, socks };
  } catch {
    return undefined;
  }
}
