import { hostname } from 'node:os';
import { z } from 'zod';
import { FairleadError } from '../../contract/errors.ts';
import { runningInstance, type Vitals } from '../../engine/instances/running.ts';
import { architectureName, platformName } from '../../engine/instances/record.ts';
import type { Engine } from '../../engine/engine.ts';
import { operation } from '../../engine/call/operation.ts';
import { osName } from '../../engine/instances/os-name.ts';
import { runProgram } from '../../system/run-program.ts';
import { problemsOf } from '../settings-problems.ts';

const engineName = 'Fairlead';

const versionOf = (engine: Engine): string => engine.service(runningInstance).own.record.version;

export const info = operation({
  title: 'Server identity',
  summary: 'Name, version and protocol of this server.',
  access: 'observe',
  input: z.object({}),
  output: z.object({ name: z.string(), version: z.string(), engine: z.string(), protocol: z.string() }),
  run: async ({ engine }) => ({
    name: 'Fairlead MCP Server',
    version: versionOf(engine),
    engine: engineName,
    protocol: 'json-rpc-2.0',
  }),
});

/** Beyond these the server counts as degraded. */
const laggingMs = 500;
const leastFreeBytes = 200 * 1024 * 1024;

export const health = operation({
  title: 'Server health',
  summary: 'Health of this server and its parts.',
  access: 'observe',
  http: [
    {
      method: 'GET',
      path: '/api/health',
      answer: (output: { readonly status: string }) => ({ ok: output.status === 'ok', ...output }),
    },
  ],
  input: z.object({}),
  output: z.object({
    status: z.enum(['ok', 'degraded']),
    reasons: z.array(z.string()).optional(),
    settings_problems: z.array(z.string()).optional().describe('Settings files that cannot be understood, with line'),
    engine: z.string(),
    mcp: z.object({ bind: z.string(), port: z.number().int(), auth: z.boolean() }),
    mux: z.object({ available: z.boolean(), pane_count: z.number().int() }),
    terminal: z.object({
      initial_cols: z.number().int(),
      initial_rows: z.number().int(),
      color_scheme: z.string(),
      term: z.string(),
    }),
  }),
  async run({ engine, caller }) {
    const { own, peers, vitals } = engine.service(runningInstance);
    const blocked = await vitals.noTerminals();
    const { cols, rows } = engine.sessions.size;
    const reasons = [
      ...lagging(vitals),
      ...unwritable(peers.root, vitals),
      ...(blocked === undefined ? [] : [blocked]),
    ];
    const problems = problemsOf(engine);
    return {
      status: reasons.length === 0 ? ('ok' as const) : ('degraded' as const),
      ...(reasons.length === 0 ? {} : { reasons }),
      ...(problems.length === 0 ? {} : { settings_problems: problems }),
      engine: engineName,
      mcp: { bind: '127.0.0.1', port: own.record.mcp_port, auth: true },
      mux: { available: blocked === undefined, pane_count: engine.sessions.running(caller).length },
      terminal: { initial_cols: cols, initial_rows: rows, color_scheme: engine.theme.name, term: 'xterm-256color' },
    };
  },
});

function lagging({ lateMs }: Vitals): string[] {
  const worst = lateMs();
  return worst > laggingMs ? [`the server was ${Math.round(worst)} ms late`] : [];
}

function unwritable(root: string, { isWritable, freeBytes }: Vitals): string[] {
  try {
    if (!isWritable(root)) return [`${root} cannot be written to`];
    return freeBytes(root) < leastFreeBytes ? ['less than 200 MB are free on the disk of the state folder'] : [];
  } catch {
    return [`${root} cannot be looked at`];
  }
}

export const system = operation({
  title: 'System',
  summary: 'This process and the machine it runs on.',
  access: 'observe',
  input: z.object({}),
  output: z.object({
    name: z.string(),
    version: z.string(),
    engine: z.string(),
    platform: z.string(),
    arch: z.string(),
    os: z.string().describe('The system as its people call it'),
    active_sessions: z.number().int(),
    hostname: z.string(),
    node: z.string(),
    uptime_s: z.number().int(),
    memory_mb: z.number().int(),
    sessions_max: z.number().int(),
  }),
  run: async ({ engine, caller }) => ({
    name: engineName,
    version: versionOf(engine),
    engine: engineName,
    platform: platformName(),
    arch: architectureName(),
    os: osName(),
    active_sessions: engine.sessions.running(caller).length,
    hostname: hostname(),
    node: process.version,
    uptime_s: Math.round(process.uptime()),
    memory_mb: Math.round(process.memoryUsage().rss / 1024 / 1024),
    sessions_max: engine.sessions.limits.maxSessions,
  }),
});

export const launch_admin = operation({
  title: 'Launch as administrator',
  summary: 'Windows only: start an elevated shell after the person consents.',
  access: 'administer',
  destructive: true,
  input: z.object({
    dry_run: z.boolean().default(false).describe('Only report what would be run'),
    shell: z.string().max(64).optional().describe('Shell to start'),
  }),
  output: z.object({
    status: z.enum(['launched', 'dry_run']),
    requires_uac: z.literal(true),
    command: z.array(z.string()),
  }),
  async run({ input, engine, signal }) {
    if (process.platform !== 'win32') {
      throw new FairleadError('unsupported', 'Administrator launch is only supported on Windows', {
        hint: `Run sudo in a session; the person answers its question with: ${engine.answerCommand}`,
      });
    }
    const command = elevated(input.shell);
    const [program = '', ...args] = command;
    if (!input.dry_run) {
      const { ok } = await runProgram(program, args, { signal, limitMs: consentMs });
      if (!ok) {
        throw new FairleadError('not_permitted', 'Windows did not start the elevated shell.', {
          hint: 'The person has to consent in the dialog that Windows shows.',
        });
      }
    }
    return {
      status: input.dry_run ? ('dry_run' as const) : ('launched' as const),
      requires_uac: true as const,
      command,
    };
  },
});

/** A person reads and answers the dialog. */
const consentMs = 300_000;

const adminShells: Readonly<Record<string, string>> = { powershell7: 'pwsh', pwsh: 'pwsh', cmd: 'cmd' };

/** PowerShell asks Windows, and Windows asks the person. */
function elevated(shell = 'powershell'): string[] {
  const program = adminShells[shell] ?? 'powershell';
  return ['powershell', '-NoProfile', '-Command', `Start-Process -FilePath ${program} -Verb RunAs`];
}
