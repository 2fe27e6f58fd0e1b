import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { FairleadError } from '../../contract/errors.ts';
import type { Engine } from '../../engine/engine.ts';
import { operation } from '../../engine/call/operation.ts';
import { linkMs, loginLinks } from '../../engine/instances/login-links.ts';
import { runningInstance } from '../../engine/instances/running.ts';
import { personSettings } from '../../engine/settings/settings.ts';
import { problemsOf } from '../settings-problems.ts';
import { ProxyStatus, proxyStatus } from '../session/proxy.ts';
import { scrollbackOf } from './terminal.ts';

export const open = operation({
  title: 'Open the dashboard',
  cliNames: ['dashboard open'],
  cliDefault: true,
  summary: 'Make a link that logs a browser in to the dashboard and its settings. It works once, for a minute.',
  access: 'administer',
  destructive: false,
  openWorld: false,
  input: z.strictObject({}),
  output: z.object({ url: z.string(), expires_in_s: z.number().int() }),
  page: ({ url }) => url,
  async run({ engine, caller }) {
    if (caller.origin === 'http') {
      throw new FairleadError('not_permitted', 'A browser cannot make the link for another login.', {
        hint: 'Log in with the token (POST /api/login), or run on the machine: fairlead dashboard',
      });
    }
    return { url: engine.service(loginLinks).make(), expires_in_s: linkMs / 1000 };
  },
  render: ({ url, expires_in_s }) => `${url}\nIt works once, within ${expires_in_s} seconds.`,
});

const Ports = z.object({ mcp: z.number().int(), http: z.number().int() });

export const state = operation({
  title: 'State of the server',
  summary: 'What a settings page shows: version, ports, theme, proxy, project, scrollback.',
  access: 'observe',
  http: [{ method: 'GET', path: '/api/state' }],
  input: z.strictObject({}),
  output: z.object({
    version: z.string(),
    hostname: z.string(),
    pid: z.number().int(),
    started_at: z.string(),
    ports: Ports,
    theme: z.object({ theme: z.string(), color_scheme: z.string() }),
    proxy: ProxyStatus,
    project: z.object({ path: z.string(), slug: z.string() }),
    recording: z
      .object({ enabled: z.boolean(), redaction: z.boolean() })
      .optional()
      .describe('Whether new sessions are recorded, and secrets masked'),
    sessions_path: z.string(),
    scrollback: z.object({ lines: z.number().int(), default: z.number().int(), max: z.number().int() }),
    problems: z.array(z.string()).describe('Settings files that cannot be understood, each with its line'),
  }),
  async run({ engine, signal }) {
    const { own, peers } = engine.service(runningInstance);
    const { version, pid, started_at, mcp_port, http_port, cwd } = own.record;
    const settings = engine.service(personSettings);
    const { lines, default: usual, max } = scrollbackOf(settings);
    const { theme } = settings;
    const recording = engine.logs?.settings.get();
    return {
      version,
      hostname: hostname(),
      pid,
      started_at,
      ports: { mcp: mcp_port, http: http_port },
      theme: { theme: theme.name, color_scheme: theme.title },
      proxy: await proxyStatus(engine, signal),
      project: { path: cwd, slug: slugOf(cwd) },
      ...(recording && { recording: { enabled: recording.recording.enabled, redaction: recording.redaction.enabled } }),
      sessions_path: join(peers.root, 'sessions'),
      scrollback: { lines, default: usual, max },
      problems: problemsOf(engine),
    };
  },
});

const slugOf = (path: string): string => basename(path).replaceAll(/[^A-Za-z0-9._-]/g, '-') || '_orphan';

export const bootstrap = operation({
  title: 'What a page begins with',
  summary: 'Version, ports, language and theme, for a page that loads. It holds no token.',
  access: 'observe',
  http: [{ method: 'GET', path: '/bootstrap.json' }],
  input: z.strictObject({}),
  output: z.object({
    version: z.string(),
    instance: z.string(),
    ports: Ports,
    lang: z.string(),
    theme: z.string(),
  }),
  async run({ engine }) {
    const { id, version, mcp_port, http_port } = engine.service(runningInstance).own.record;
    const { lang, theme } = engine.service(personSettings);
    return { version, instance: id, ports: { mcp: mcp_port, http: http_port }, lang, theme: theme.name };
  },
});

const versionOf = (engine: Engine): string => engine.service(runningInstance).own.record.version;

export const updates = operation({
  title: 'Updates',
  summary: 'The version that runs. Fairlead never looks for a newer one by itself.',
  access: 'observe',
  http: [
    { method: 'GET', path: '/api/updates' },
    { method: 'POST', path: '/api/updates/check' },
  ],
  input: z.strictObject({}),
  output: z.object({ current: z.string(), latest: z.null(), update_available: z.literal(false), note: z.string() }),
  run: async ({ engine }) => ({
    current: versionOf(engine),
    latest: null,
    update_available: false as const,
    note: 'This server never asks the network for updates. Run: npm view fairlead version',
  }),
});
