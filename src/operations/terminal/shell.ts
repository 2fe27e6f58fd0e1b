import { z } from 'zod';
import { operation } from '../../engine/call/operation.ts';
import { launchLines } from '../../policy/lines.ts';
import { aboutLaunch } from '../launch.ts';
import { EnvironmentInput } from '../environment.ts';
import { listedSession, sessionFacts } from './session-facts.ts';
import { AnySessionId, TerminalFlags } from './shared.ts';

const SessionInfo = z.object({
  sessionId: z.string(),
  shell: z.string(),
  cols: z.number().int(),
  rows: z.number().int(),
  createdAt: z.string(),
  lastActivityAt: z.string(),
  isDefault: z.boolean(),
  name: z.string().optional(),
  pid: z.number().int().optional(),
  cwd: z.string().optional(),
  rpcId: z.number().int().describe('The number of this session in the session RPC; accepted as sessionId too'),
  flags: TerminalFlags,
});

export const create = operation({
  mcpName: 'createSession',
  title: 'Open a session',
  summary: 'Open another session: one per parallel job.',
  access: 'open',
  keyed: true,
  input: z.object({
    shell: z.string().min(1).max(4096).optional().describe('Your shell by default'),
    cols: z.number().int().min(2).max(1000).optional(),
    rows: z.number().int().min(1).max(1000).optional(),
    cwd: z.string().min(1).max(4096).optional(),
    env: EnvironmentInput,
    name: z.string().trim().min(1).max(64).optional(),
  }),
  output: SessionInfo,
  commands: launchLines,
  about: aboutLaunch,
  async run({ input, engine, caller, signal, note }) {
    const { shell, cwd, env, name } = input;
    const size = { cols: input.cols, rows: input.rows };
    const terminal = await engine.sessions.create({ shell, cwd, env, name, ...size }, caller, signal);
    note({ detail: aboutLaunch(input).detail || terminal.identity.program, terminal: terminal.id });
    return sessionFacts(terminal, engine, caller);
  },
});

export const list = operation({
  mcpName: 'listSessions',
  title: 'List sessions',
  summary: 'List the terminal sessions with their state.',
  access: 'observe',
  input: z.object({}),
  output: z.object({
    sessions: z.array(
      SessionInfo.extend({
        status: z.enum(['running', 'exited']),
        exitCode: z.number().int().nullable().optional(),
        signal: z.string().optional(),
        idleSeconds: z.number(),
        foreground: z.string().optional().describe('Program in the foreground'),
        recordingId: z.string().optional(),
      }),
    ),
    maxSessions: z.number().int(),
    sessionIdleTimeout: z.number().describe('Seconds; 0 means never'),
  }),
  async run({ engine, caller, signal }) {
    // Open the default session first, so that it is listed; if its shell cannot start, list the others.
    await engine.sessions.default(signal, caller).catch(() => {});
    const { maxSessions, idleTimeout } = engine.sessions.limits;
    return {
      sessions: engine.sessions.all(caller).map((terminal) => listedSession(terminal, engine, caller)),
      maxSessions,
      sessionIdleTimeout: idleTimeout,
    };
  },
});

export const destroy = operation({
  mcpName: 'destroySession',
  title: 'Close a session',
  summary: 'End a session and everything that runs in it. The default session stays.',
  access: 'control',
  destructive: true,
  input: z.object({
    sessionId: AnySessionId,
  }),
  output: z.object({ sessionId: z.string(), destroyed: z.literal(true) }),
  positional: ['sessionId'],
  async run({ input, engine, caller, signal }) {
    return { sessionId: await engine.sessions.destroy(input.sessionId, caller, signal), destroyed: true as const };
  },
  render: ({ sessionId }) => `Session '${sessionId}' destroyed`,
});
