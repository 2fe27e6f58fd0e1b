import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram } from '../../system/run-program.ts';
import { accepts, speaksProxy } from './probe.ts';
import type { Detected } from './settings.ts';

export interface ProxySurroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly home: string;
  /** Output of a program of the system; undefined when there is no such program or it fails. */
  readonly run: (program: string, args: readonly string[]) => Promise<string | undefined>;
  readonly ports: readonly number[];
  /** For slow test machines. */
  readonly limits?: { readonly settingMs?: number; readonly scanMs?: number; readonly reachMs?: number };
}

const settingMs = 150;
const scanMs = 120;
const toolMs = 1000;

export const systemSurroundings = (env: ProxySurroundings['env'], home: string): ProxySurroundings => ({
  env,
  platform: process.platform,
  home,
  run: async (program, args) => {
    const run = await runProgram(program, args, { limitMs: toolMs }).catch(() => undefined);
    return run?.ok === true ? run.stdout.toString() : undefined;
  },
  ports: [7897, 7890, 1087, 7070, 8118, 8888, 8080, 1080],
});

/** The proxy of this machine: the system setting, then the environment, then the usual ports. */
export async function detectProxy(around: ProxySurroundings, signal: AbortSignal): Promise<Detected | undefined> {
  const system = await systemSetting(around);
  const environment = fromEnvironment(around.env);
  for (const found of [system, environment]) {
    const checked = found && (await reachable(found, around, signal));
    if (checked) return checked;
  }
  const scanned = await scan(around, signal);
  if (scanned) return scanned;
  return system?.hint === undefined ? undefined : { ...system, http: undefined, socks: undefined };
}

async function reachable(
  found: Detected,
  { limits }: ProxySurroundings,
  signal: AbortSignal,
): Promise<Detected | undefined> {
  const limitMs = limits?.settingMs ?? settingMs;
  const lives = async (url: string | undefined): Promise<string | undefined> =>
    url !== undefined && (await accepts(url, limitMs, signal)) !== undefined ? url : undefined;
  const [http, socks] = await Promise.all([lives(found.http), lives(found.socks)]);
  return http === undefined && socks === undefined ? undefined : { ...found, http, socks };
}

function fromEnvironment(env: ProxySurroundings['env']): Detected | undefined {
  const get = (name: string): string | undefined => env[name] || env[name.toLowerCase()] || undefined;
  const all = get('ALL_PROXY');
  const http = get('HTTPS_PROXY') ?? get('HTTP_PROXY') ?? (all?.startsWith('socks') === true ? undefined : all);
  const socks = all?.startsWith('socks') === true ? all : undefined;
  return http === undefined && socks === undefined ? undefined : { source: 'environment', http, socks };
}

async function scan({ ports, limits }: ProxySurroundings, signal: AbortSignal): Promise<Detected | undefined> {
  const limitMs = limits?.scanMs ?? scanMs;
  const found = await Promise.all(
    ports.map(async (port) => ({ port, kind: await speaksProxy(port, limitMs, signal) })),
  );
  const first = found.find(({ kind }) => kind !== undefined);
  if (first === undefined) return undefined;
  const socks = first.kind === 'socks';
  const url = `${socks ? 'socks5' : 'http'}://127.0.0.1:${first.port}`;
  return { source: 'scan', http: socks ? undefined : url, socks: socks ? url : undefined };
}

async function systemSetting(around: ProxySurroundings): Promise<Detected | undefined> {
  if (around.platform === 'darwin') return macSetting(await around.run('scutil', ['--proxy']));
  if (around.platform === 'win32') return windowsSetting(await around.run('reg', ['query', internetSettings]));
  return (await gnomeSetting(around)) ?? (await kdeSetting(around.home));
}

const pac = {
  http: undefined,
  socks: undefined,
  hint: 'unsupported_pac: the system uses an automatic proxy script; set the proxy by hand.',
};

export function macSetting(output: string | undefined): Detected | undefined {
  if (output === undefined) return undefined;
  const get = (name: string): string | undefined => new RegExp(`^\\s*${name} : (.+)$`, 'm').exec(output)?.[1]?.trim();
  const pair = (kind: string, scheme: string): string | undefined =>
    get(`${kind}Enable`) === '1' ? `${scheme}://${get(`${kind}Proxy`)}:${get(`${kind}Port`)}` : undefined;
  const http = pair('HTTPS', 'http') ?? pair('HTTP', 'http');
  const socks = pair('SOCKS', 'socks5');
  if (http !== undefined || socks !== undefined) return { source: 'system', http, socks };
  return get('ProxyAutoConfigEnable') === '1' ? { source: 'system', ...pac } : undefined;
}

const internetSettings = 'HKCU\\Software\\Microsoft\\Windows\\CurrentVersion\\Internet Settings';

export function windowsSetting(output: string | undefined): Detected | undefined {
  if (output === undefined) return undefined;
  const get = (name: string): string | undefined =>
    new RegExp(`^\\s*${name}\\s+REG_\\w+\\s+(.+)$`, 'm').exec(output)?.[1]?.trim();
  const server = get('ProxyServer');
  if (get('ProxyEnable') === '0x1' && server !== undefined) {
    const parts = new Map(server.split(';').map((part) => part.split('=', 2) as [string, string | undefined]));
    const plain = server.includes('=') ? (parts.get('https') ?? parts.get('http')) : server;
    const socks = parts.get('socks');
    return {
      source: 'system',
      http: plain === undefined ? undefined : plain.includes('://') ? plain : `http://${plain}`,
      socks: socks === undefined ? undefined : `socks5://${socks}`,
    };
  }
  return get('AutoConfigURL') === undefined ? undefined : { source: 'system', ...pac };
}

async function gnomeSetting({ run }: ProxySurroundings): Promise<Detected | undefined> {
  const get = async (schema: string, key: string): Promise<string> =>
    ((await run('gsettings', ['get', schema, key])) ?? '').trim().replace(/^'|'$/g, '');
  const mode = await get('org.gnome.system.proxy', 'mode');
  if (mode === 'auto') return { source: 'system', ...pac };
  if (mode !== 'manual') return undefined;
  const pair = async (kind: string, scheme: string): Promise<string | undefined> => {
    const [host, port] = await Promise.all([
      get(`org.gnome.system.proxy.${kind}`, 'host'),
      get(`org.gnome.system.proxy.${kind}`, 'port'),
    ]);
    return host === '' || port === '0' ? undefined : `${scheme}://${host}:${port}`;
  };
  const [https, http, socks] = await Promise.all([
    pair('https', 'http'),
    pair('http', 'http'),
    pair('socks', 'socks5'),
  ]);
  return { source: 'system', http: https ?? http, socks };
}

async function kdeSetting(home: string): Promise<Detected | undefined> {
  const text = await readFile(join(home, '.config', 'kioslaverc'), 'utf8').catch(() => '');
  const get = (name: string): string | undefined => new RegExp(`^${name}=(.*)$`, 'm').exec(text)?.[1]?.trim();
  const type = get('ProxyType');
  if (type === '2' || type === '3') return { source: 'system', ...pac };
  if (type !== '1') return undefined;
  // KDE writes host and port with a blank between them.
  const url = (name: string): string | undefined => get(name)?.replace(' ', ':') || undefined;
  const socks = url('socksProxy')?.replace(/^socks:/, 'socks5:');
  return { source: 'system', http: url('httpsProxy') ?? url('httpProxy'), socks };
}
