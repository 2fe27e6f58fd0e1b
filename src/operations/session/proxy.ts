import { z } from 'zod';
import { FairleadError } from '../../contract/errors.ts';
import { quote } from '../../contract/quote.ts';
import type { Engine } from '../../engine/engine.ts';
import { operation } from '../../engine/call/operation.ts';
import { proxies } from '../../engine/proxy/proxies.ts';
import { endpoint, masked, ProxyNode } from '../../engine/proxy/settings.ts';
import { hostPortOf } from '../../engine/proxy/tunnel.ts';
import { FileError, fileError } from '../file-error.ts';

const hidden = (url: string | null | undefined): string | null =>
  url === null || url === undefined ? null : masked(url);

const Health = z
  .object({ source: z.string(), url: z.string().nullable(), reachable: z.boolean(), hint: z.string().optional() })
  .nullable();

export const ProxyStatus = z.object({
  enabled: z.boolean(),
  mode: z.string(),
  http_proxy: z.string().nullable(),
  socks_proxy: z.string().nullable(),
  no_proxy: z.string(),
  current_node: z.string().nullable(),
  node_count: z.number().int(),
  health: Health,
  error: FileError,
});

export async function proxyStatus(engine: Engine, signal: AbortSignal): Promise<z.output<typeof ProxyStatus>> {
  const part = engine.service(proxies);
  const { enabled, mode, http_proxy, socks_proxy, no_proxy, current_node, nodes } = part.settings;
  const health = await part.health(signal);
  return {
    enabled,
    mode,
    http_proxy: hidden(http_proxy),
    socks_proxy: hidden(socks_proxy),
    no_proxy,
    current_node,
    node_count: nodes.length,
    health: health === null ? null : { ...health, url: hidden(health.url) },
    ...fileError(part.problem),
  };
}

export const status = operation({
  title: 'Proxy status',
  summary: 'The proxy of new sessions, and whether it answers.',
  access: 'observe',
  http: [{ method: 'GET', path: '/api/settings/proxy' }],
  openWorld: true,
  input: z.object({}),
  output: ProxyStatus,
  run: ({ engine, signal }) => proxyStatus(engine, signal),
});

export const nodes = operation({
  title: 'Proxy nodes',
  summary: 'The configured proxies by name.',
  access: 'observe',
  input: z.object({}),
  output: z.object({ current_node: z.string().nullable(), nodes: z.array(ProxyNode), error: FileError }),
  async run({ engine }) {
    const part = engine.service(proxies);
    const { current_node, nodes: all } = part.settings;
    const shown = all.map((node) => ({ ...node, url: masked(node.url) }));
    return { current_node, nodes: shown, ...fileError(part.problem) };
  },
});

const switchTo = operation({
  title: 'Switch the proxy',
  summary: 'Use one of the configured proxies.',
  access: 'administer',
  idempotent: true,
  input: z.object({ node_name: z.string().min(1).describe('Name of the proxy') }),
  output: z.object({
    switched: z.literal(true),
    current_node: z.string(),
    http_proxy: z.string().nullable(),
    socks_proxy: z.string().nullable(),
  }),
  positional: ['node_name'],
  about: ({ node_name }) => ({ detail: node_name }),
  async run({ input, engine }) {
    const { http_proxy, socks_proxy } = engine.service(proxies).switchTo(input.node_name);
    return {
      switched: true as const,
      current_node: input.node_name,
      http_proxy: hidden(http_proxy),
      socks_proxy: hidden(socks_proxy),
    };
  },
});
export { switchTo as switch };

export const speedtest = operation({
  title: 'Test proxies',
  summary: 'Measure how long the configured proxies take to accept a connection, or to reach a target.',
  access: 'control',
  destructive: false,
  idempotent: true,
  input: z.object({
    node_name: z.string().optional().describe('Only this one'),
    timeout_ms: z.number().int().min(1).max(60_000).default(3000).describe('How long to wait for each'),
    level: z.enum(['tcp', 'connect']).default('tcp').describe('connect: through the proxy to the target'),
    target: z.string().max(300).default('example.com:443').describe('host:port, for connect'),
  }),
  output: z.object({ results: z.array(ProxyNode) }),
  positional: ['node_name'],
  async run({ input, engine, signal }) {
    const part = engine.service(proxies);
    const names = input.node_name === undefined ? part.settings.nodes.map(({ name }) => name) : [input.node_name];
    const { level, target, timeout_ms: limitMs } = input;
    const through = level === 'connect' ? hostPortOf(target) : undefined;
    if (level === 'connect' && through === undefined) {
      throw new FairleadError('invalid_input', `target: ${target} is not a host and a port`, {
        hint: 'Such as example.com:443.',
      });
    }
    const results = await part.test(names, { limitMs, through }, signal);
    return { results: results.map((node) => ({ ...node, url: masked(node.url) })) };
  },
});

const isProxy = (url: string): boolean => endpoint(url) !== undefined;
const noProxy = 'is not the address of a proxy';
const Url = z
  .string()
  .max(2000)
  .refine((url) => url === '' || isProxy(url), noProxy)
  .nullish();

const Nodes = z
  .array(z.object({ name: z.string().min(1).max(100), url: z.string().min(1).max(2000).refine(isProxy, noProxy) }))
  .max(1000)
  .refine((nodes) => new Set(nodes.map(({ name }) => name)).size === nodes.length, 'has two nodes of one name');

export const configure = operation({
  title: 'Configure the proxy',
  summary: 'Set mode, addresses and nodes. Null or an empty string clears a field.',
  access: 'administer',
  http: [
    { method: 'PUT', path: '/api/settings/proxy' },
    {
      method: 'POST',
      path: '/api/proxy',
      takes: ['enabled', 'http_proxy', 'socks_proxy', 'no_proxy'],
      // Addresses mean manual mode there; without one the proxy is looked for.
      input: (given) => ({ ...given, mode: given['http_proxy'] || given['socks_proxy'] ? 'manual' : 'auto' }),
      answer: ({ status: now }: { readonly status: unknown }) => now,
    },
  ],
  idempotent: true,
  input: z.object({
    enabled: z.boolean().default(true).describe('Whether new sessions get a proxy'),
    mode: z.string().default('manual').describe('manual, or auto: detect the system proxy'),
    http_proxy: Url.describe('Address for HTTP'),
    socks_proxy: Url.describe('Address for SOCKS'),
    no_proxy: z.string().max(4000).nullish().describe('Hosts reached without it'),
    nodes: Nodes.optional().describe('Proxies by name: [{"name":…,"url":…}]'),
    current_node: z.string().nullish().describe('The one to use'),
  }),
  output: z.object({ configured: z.literal(true), status: ProxyStatus }),
  about: ({ enabled, mode, http_proxy, socks_proxy, nodes: all, current_node }) => ({
    detail: [
      enabled ? mode : 'off',
      ...[http_proxy, socks_proxy].filter((url) => typeof url === 'string').map(masked),
      ...(all === undefined ? [] : [`${all.length} nodes`]),
      ...(current_node === undefined ? [] : [`node ${current_node || 'none'}`]),
    ].join(', '),
  }),
  async run({ input, engine, signal }) {
    const part = engine.service(proxies);
    const { enabled, mode, http_proxy, socks_proxy, no_proxy, current_node } = input;
    const known = input.nodes ?? part.settings.nodes;
    if (current_node && !known.some(({ name }) => name === current_node)) {
      throw new FairleadError('not_found', `Proxy node '${quote(current_node)}' not found`);
    }
    // A node counts as in use while its address is.
    const isOther = http_proxy !== undefined || socks_proxy !== undefined || input.nodes !== undefined;
    part.change({
      enabled,
      mode: enabled ? (mode === 'manual' ? 'manual' : 'auto') : 'off',
      ...(http_proxy !== undefined && { http_proxy: http_proxy || null }),
      ...(socks_proxy !== undefined && { socks_proxy: socks_proxy || null }),
      ...(no_proxy !== undefined && { no_proxy: no_proxy ?? '' }),
      ...(input.nodes !== undefined && { nodes: input.nodes.map((node) => ProxyNode.parse(node)) }),
      ...((isOther || current_node !== undefined) && { current_node: null }),
    });
    if (current_node) part.switchTo(current_node);
    return { configured: true as const, status: await proxyStatus(engine, signal) };
  },
});

export const disable = operation({
  title: 'Switch the proxy off',
  summary: 'Give new sessions no proxy.',
  access: 'administer',
  idempotent: true,
  input: z.object({}),
  output: z.object({ disabled: z.literal(true) }),
  async run({ engine }) {
    engine.service(proxies).change({ enabled: false, mode: 'off' });
    return { disabled: true as const };
  },
});

export const env = operation({
  title: 'Proxy variables',
  summary: 'The proxy as environment variables. Passwords are masked unless reveal is true.',
  access: 'observe',
  input: z.object({ reveal: z.boolean().default(false).describe('Show passwords too') }),
  output: z.object({ enabled: z.boolean(), env: z.record(z.string(), z.string()), error: FileError }),
  show: ({ enabled, env: all, error }) =>
    [...(error === undefined ? [] : [`# ${error}`]), ...(enabled ? exportLines(all) : ['# The proxy is off.'])].join(
      '\n',
    ),
  async run({ input, engine, signal }) {
    const part = engine.service(proxies);
    const found = Object.entries(await part.variables(signal));
    const shown = found.map(([name, value]) => [name, input.reveal ? value : masked(value)]);
    const shownEnv = Object.fromEntries(shown) as Record<string, string>;
    return { enabled: part.settings.enabled, env: shownEnv, ...fileError(part.problem) };
  },
});

/** For `eval` in a shell. `eval` hides comments, so masked passwords are also reported with `echo` on stderr. */
function exportLines(all: Readonly<Record<string, string>>): string[] {
  const lines = Object.entries(all).map(([name, value]) => `export ${name}='${value.replaceAll("'", `'\\''`)}'`);
  if (!Object.values(all).some((value) => value.includes(':•••@'))) return lines;
  const hidden = 'The password is hidden here. To have it: fairlead proxy env --reveal';
  return [`# ${hidden}`, ...lines, `echo 'fairlead: ${hidden}' >&2`];
}
