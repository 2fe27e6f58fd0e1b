import { connect } from 'node:net';
import { once } from 'node:events';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { auditTrail } from '../../engine/call/audit/trail.ts';
import { operation } from '../../engine/call/operation.ts';
import type { Engine } from '../../engine/engine.ts';
import { type HealthCheck, runChecks, severities, worstOf } from '../../engine/health/run-checks.ts';
import { folderSize, staleInstances, stateModes } from '../../engine/health/state-files.ts';
import { architectureName, platformName } from '../../engine/instances/record.ts';
import { runningInstance } from '../../engine/instances/running.ts';
import { problemsOf } from '../settings-problems.ts';

/** A check that takes longer is a row of its own. */
const checkMs = 5000;
const laggingMs = 500;
const fineCheckMs = 300_000;

const sized = (bytes: number): string =>
  bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
const plural = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`;

function checksOf(engine: Engine): HealthCheck[] {
  const { own, peers, vitals } = engine.service(runningInstance);
  const { root } = peers;
  return [
    {
      id: 'state-files',
      name: 'State and token files',
      why: 'Who can read a token can use every terminal of this instance; who can read a key can forge records.',
      run: () => stateModes(root),
    },
    {
      id: 'pty',
      name: 'Terminals',
      why: 'Without a native driver no program of this machine can have a terminal.',
      async run(signal) {
        const fault = (await vitals.noTerminals()) ?? (await vitals.runsTrue(signal));
        if (fault === undefined) return { severity: 'ok', summary: 'The driver loads, and `true` ran on a terminal.' };
        const fix = 'Install again without --omit=optional, on the machine and for the system it runs on.';
        return { severity: 'crit', summary: fault, fix };
      },
    },
    {
      id: 'shells',
      name: 'Shells',
      why: 'A terminal of this machine starts a shell unless a program is named.',
      async run() {
        const { shells } = await engine.describeTargets();
        if (shells.length > 0) return { severity: 'ok', summary: `Found: ${shells.join(', ')}.` };
        return { severity: 'warn', summary: 'No shell was found.', fix: 'Install bash, or name one with --shell.' };
      },
    },
    {
      id: 'ports',
      name: 'Ports',
      why: 'Clients, the command line and this page reach the server by them.',
      async run(signal) {
        const { http_port, mcp_port } = own.record;
        const closed: string[] = [];
        for (const port of [http_port, mcp_port]) if (!(await accepts(port, signal))) closed.push(String(port));
        if (closed.length === 0) {
          return { severity: 'ok', summary: `Pages and MCP on ${http_port}, session RPC on ${mcp_port}.` };
        }
        return {
          severity: 'warn',
          summary: `Nothing answers on 127.0.0.1:${closed.join(' and ')}.`,
          fix: 'Restart the server. If it stays so, look for a firewall on the loopback interface.',
        };
      },
    },
    {
      id: 'instances',
      name: 'Instance files',
      why: 'A file of a server that is gone leads clients astray.',
      run: () => staleInstances(root),
    },
    {
      id: 'settings',
      name: 'Settings files',
      why: 'A file that cannot be read counts as its defaults; an unreadable policy lets nothing run.',
      run() {
        const problems = problemsOf(engine);
        if (problems.length === 0) return { severity: 'ok', summary: 'All can be read.' };
        return {
          severity: 'warn',
          summary: `${problems.join('; ')}.`,
          fix: 'Mend the file; it counts within two seconds.',
        };
      },
    },
    {
      id: 'audit',
      name: 'Audit trail',
      why: 'It says who did what, and is worth as much as its chain is whole.',
      async run(signal) {
        const trail = engine.service(auditTrail);
        trail.vouch();
        const { found } = await trail.checks.within(fineCheckMs, new Date(engine.clock.now()), signal);
        if (found.faults.length === 0) return { severity: 'ok', summary: `Whole: ${plural(found.records, 'record')}.` };
        const [first] = found.faults;
        return {
          severity: 'crit',
          summary: `${plural(found.faults.length, 'fault')}, first ${first?.file}:${first?.line}: ${first?.reason}.`,
          fix: 'Copy the folder to another machine first; then look at the page Audit.',
        };
      },
    },
    {
      id: 'disk',
      name: 'Disk',
      why: 'On a full disk recordings end and the audit trail has gaps.',
      async run() {
        const { blocks, bavail, bsize } = await statfs(root);
        const used = blocks === 0 ? 0 : Math.round((1 - bavail / blocks) * 100);
        const summary = `${used} % used, ${sized(bavail * bsize)} free.`;
        if (used < 80) return { severity: 'ok', summary };
        const fix = 'Remove what is not needed, or keep recordings for fewer days: Settings, Recording.';
        return { severity: used < 90 ? 'warn' : 'crit', summary, fix };
      },
    },
    {
      id: 'recordings',
      name: 'Recordings',
      why: 'They are the largest thing that Fairlead keeps.',
      async run(signal) {
        const folders = new Set([engine.recordings.dir, join(root, 'sessions')]);
        const sizes = await Promise.all([...folders].map((folder) => folderSize(folder, signal)));
        const bytes = sizes.reduce((sum, one) => sum + one.bytes, 0);
        const files = sizes.reduce((sum, one) => sum + one.files, 0);
        const free = vitals.freeBytes(root);
        const summary = `${sizes.some(({ isCut }) => isCut) ? 'More than ' : ''}${sized(bytes)} in ${plural(files, 'file')}.`;
        if (bytes <= free) return { severity: 'ok', summary };
        const fix = 'Keep them for fewer days: Settings, Recording.';
        return { severity: 'warn', summary: `${summary} That is more than what is free.`, fix };
      },
    },
    {
      id: 'queues',
      name: 'Queues',
      why: 'A server that is late, or has no room for another terminal, lets agents wait.',
      run() {
        const late = Math.round(vitals.lateMs());
        const open = engine.terminals.filter(({ ended }) => !ended).length;
        const { maxSessions } = engine.sessions.limits;
        const waiting = engine.questions.list().length;
        const summary = `${open} of ${maxSessions} terminals open, ${plural(waiting, 'question')} waiting, at most ${late} ms late in the last minute.`;
        if (late > laggingMs) {
          return {
            severity: 'warn',
            summary,
            fix: 'Something keeps the processor busy; look at the terminals that print most.',
          };
        }
        if (open >= maxSessions)
          return { severity: 'warn', summary, fix: 'Close terminals, or start with a larger --max-sessions.' };
        return { severity: 'ok', summary };
      },
    },
    {
      id: 'versions',
      name: 'Versions',
      why: 'Name them when you report a fault.',
      run: () => ({
        severity: 'info',
        summary: `Fairlead ${own.record.version}, Node ${process.version}, ${platformName()} ${architectureName()}.`,
      }),
    },
  ];
}

/** Whether a server of this machine takes a connection on a port. */
async function accepts(port: number, signal: AbortSignal): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port, signal });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

const Row = z.object({
  id: z.string(),
  name: z.string(),
  severity: z.enum(severities),
  summary: z.string(),
  why: z.string(),
  fix: z.string().optional().describe('What mends it'),
  ms: z.number().int(),
});

const marks = { ok: '✓', info: 'i', warn: '!', crit: '✗' } as const;

export const check = operation({
  title: 'Check the health of this server',
  summary:
    'Check what this server can check of itself: files and their modes, terminals, shells, ports, settings, audit trail, disk, queues, versions.',
  access: 'observe',
  cliDefault: true,
  input: z.strictObject({}),
  output: z.object({ checks: z.array(Row), worst: z.enum(severities), checked_at: z.string() }),
  async run({ engine, signal }) {
    const checks = await runChecks(checksOf(engine), checkMs, signal);
    return { checks, worst: worstOf(checks), checked_at: new Date(engine.clock.now()).toISOString() };
  },
  exitCode: ({ worst }) => (worst === 'crit' ? 2 : worst === 'warn' ? 1 : 0),
  render: ({ checks }) =>
    checks
      .flatMap(({ name, severity, summary, why, fix }) => [
        `${marks[severity]} ${name}: ${summary}`,
        ...(severity === 'ok' || severity === 'info' ? [] : [`  Why: ${why}`]),
        ...(fix === undefined ? [] : [`  Fix: ${fix}`]),
      ])
      .join('\n'),
});
