import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { FairleadError } from '../../contract/errors.ts';
import { accounted, type Call } from '../../engine/call/call.ts';
import { operation } from '../../engine/call/operation.ts';
import { freeName } from '../../engine/sessions/lookup.ts';
import { launchLines } from '../../policy/lines.ts';
import { policies } from '../../policy/policies.ts';
import { restorePlan } from '../../engine/sessions/restore-plan.ts';
import { savedSession } from '../../engine/sessions/saved-session.ts';
import { type SavedSession, Workspace, workspaces } from '../../engine/sessions/workspaces.ts';
import { renderSessionError } from './errors.ts';
import { typeLine } from './exec.ts';

const Name = { name: z.string().min(1).max(200).describe('Name of the workspace') };

export const save = operation({
  title: 'Save a workspace',
  summary: 'Save the open sessions, their directories and sizes under a name.',
  access: 'control',
  openWorld: false,
  idempotent: true,
  input: z.object(Name),
  output: z.object({ saved: z.literal(true), name: z.string(), sessions: z.number().int() }),
  positional: ['name'],
  about: ({ name }) => ({ detail: name }),
  async run({ input, engine, caller }) {
    const sessions = engine.sessions.running(caller).map((terminal) => savedSession(terminal, engine));
    engine
      .service(workspaces)
      .save({ name: input.name, sessions, saved_at: new Date(engine.clock.now()).toISOString() });
    return { saved: true as const, name: input.name, sessions: sessions.length };
  },
});

const Recreated = z.object({
  saved_id: z.number().int(),
  id: z.number().int(),
  cwd: z.string().optional().describe('Its new directory, if the old one is gone'),
  name: z.string().optional().describe('Its new name, if the old one was taken'),
});
type Recreated = z.output<typeof Recreated>;

const Planned = z.object({
  saved_id: z.number().int(),
  name: z.string().optional(),
  title: z.string(),
  target: z.string(),
  cwd: z.string().optional().describe('Where it would start'),
  missing_cwd: z.string().optional().describe('The directory it had, if that is gone'),
  shell: z.string().optional(),
  command: z.string().optional().describe('What it was started with'),
  runs: z.boolean().describe('That command would run'),
  refused: z.string().optional().describe('Why the policy would refuse it, and with it the restore'),
  open: z.array(z.number().int()).describe('Open sessions that are the same'),
});

const Unsaved = z.object({
  id: z.number().int(),
  name: z.string().optional(),
  title: z.string(),
  target: z.string(),
  cwd: z.string().optional(),
});

export const restore = operation({
  title: 'Restore a workspace',
  summary: 'Create the sessions of a saved workspace again, each in its directory.',
  access: 'open',
  input: z.object({
    ...Name,
    dry_run: z.boolean().default(false).describe('Only report what would be done'),
    replace: z.boolean().default(false).describe('Destroy the open sessions first'),
    run_commands: z.boolean().default(false).describe('Run the commands sessions were started with'),
  }),
  output: z.object({
    restored: z.boolean(),
    name: z.string(),
    workspace: Workspace,
    message: z.string(),
    planned: z.number().int(),
    created: z.array(Recreated),
    failed: z.array(z.object({ saved_id: z.number().int(), error: z.string() })),
    dry_run: z.boolean(),
    plan: z.array(Planned).optional().describe('With dry_run: each session as it would be created'),
    not_saved: z.array(Unsaved).optional().describe('With dry_run: open sessions that the workspace does not hold'),
  }),
  positional: ['name'],
  about: ({ name, dry_run, replace, run_commands }) => {
    const how = Object.entries({ dry_run, replace, run_commands }).flatMap(([word, given]) => (given ? [word] : []));
    return { detail: [name, ...how].join(', ') };
  },
  async run(call) {
    const { input, engine, caller } = call;
    const workspace = engine.service(workspaces).load(input.name);
    const base = { name: input.name, workspace, planned: workspace.sessions.length, dry_run: input.dry_run };
    if (input.dry_run) {
      const message = `${workspace.sessions.length} sessions would be created.`;
      const open = engine.sessions.running(caller).map((terminal) => savedSession(terminal, engine));
      const refusal = (saved: SavedSession): string | undefined =>
        linesOf(saved, input.run_commands)
          .map((line) => engine.service(policies).check(line))
          .find(({ allowed }) => !allowed)?.reason;
      const plan = restorePlan(workspace, open, { isRunning: input.run_commands, nearest, refusal });
      return { restored: false, ...base, message, created: [], failed: [], ...plan };
    }
    // Only now known: refuse before closing or opening anything.
    const commands = workspace.sessions.flatMap((saved) => linesOf(saved, input.run_commands));
    if (commands.length > 0) await call.admitCommands(commands);
    if (input.replace) {
      await Promise.all(
        engine.sessions.running(caller).map(({ id }) => engine.sessions.close(id, caller, call.signal)),
      );
    }
    const created: Recreated[] = [];
    const failed: { saved_id: number; error: string }[] = [];
    for (const saved of workspace.sessions) {
      if (created.length + failed.length > 0) await call.nextStep();
      try {
        // One audit entry per session, so that each names who opened it.
        const what = { operation: 'workspace.restore', access: 'open', terminal: undefined } as const;
        created.push(await accounted(what, call, (_admit, note) => recreate({ ...call, note }, saved)));
      } catch (error) {
        if (!(error instanceof FairleadError)) throw error;
        failed.push({ saved_id: saved.id, error: renderSessionError(error) });
      }
    }
    const renamed = created.flatMap(({ id, name }) => (name === undefined ? [] : [`${id} is called ${name}`]));
    const message = [
      `${created.length} of ${workspace.sessions.length} sessions were created.`,
      ...(renamed.length === 0 ? [] : [`Names that were taken: ${renamed.join(', ')}.`]),
    ].join(' ');
    return { restored: true, ...base, message, created, failed };
  },
});

const linesOf = ({ shell, command }: SavedSession, isRunning: boolean): readonly string[] =>
  launchLines({ shell, command: isRunning ? command : undefined });

async function recreate(
  { input, engine, caller, signal, note }: Call<{ readonly name: string; readonly run_commands: boolean }>,
  saved: SavedSession,
): Promise<Recreated> {
  const { cols, rows, given_title: title, target, shell } = saved;
  const cwd = saved.cwd_is_remote === true ? saved.cwd : nearest(saved.cwd);
  const running = engine.sessions.running(caller).map((terminal) => terminal.identity.name);
  // The original may still be open, and two sessions must not share a name.
  const name = saved.name === undefined ? undefined : freeName(saved.name, running);
  const terminal = await engine.sessions.create({ cols, rows, name, title, target, shell, cwd }, caller, signal);
  const command = input.run_commands ? saved.command : undefined;
  note({
    detail: [input.name, command].filter((part) => part !== undefined).join(': '),
    terminal: String(terminal.identity.number),
  });
  if (command !== undefined) {
    await typeLine(terminal, command, caller.name, signal);
  }
  return {
    saved_id: saved.id,
    id: terminal.identity.number,
    ...(cwd !== undefined && cwd !== saved.cwd ? { cwd } : {}),
    ...(name === saved.name ? {} : { name }),
  };
}

/** The directory, or the nearest one above it that still exists. */
function nearest(path: string): string | undefined {
  for (let at = path; at !== ''; at = dirname(at)) {
    if (statSync(at, { throwIfNoEntry: false })?.isDirectory() === true) return at;
    if (dirname(at) === at) break;
  }
  return undefined;
}

const Listed = z.object({
  name: z.string(),
  path: z.string(),
  saved_at: z.string().optional(),
  session_count: z.number().int().optional(),
  error: z.string().optional(),
});

export const list = operation({
  title: 'List workspaces',
  summary: 'List the saved workspaces.',
  http: [{ method: 'GET', path: '/api/workspaces' }],
  access: 'observe',
  input: z.object({}),
  output: z.object({ workspaces: z.array(Listed) }),
  run: async ({ engine }) => ({ workspaces: engine.service(workspaces).list() }),
});

export const remove = operation({
  title: 'Delete a workspace',
  summary: 'Delete a saved workspace.',
  access: 'control',
  openWorld: false,
  destructive: true,
  input: z.object(Name),
  output: z.object({ deleted: z.literal(true), name: z.string() }),
  positional: ['name'],
  about: ({ name }) => ({ detail: name }),
  async run({ input, engine }) {
    engine.service(workspaces).delete(input.name);
    return { deleted: true as const, name: input.name };
  },
});
