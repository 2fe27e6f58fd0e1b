import { z } from 'zod';
import { runningInstance } from '../../engine/instances/running.ts';
import { operation } from '../../engine/call/operation.ts';
import { sessionOf } from './shared.ts';

const Public = z.object({
  id: z.string(),
  pid: z.number().int(),
  started_at: z.string(),
  mcp_port: z.number().int(),
  http_port: z.number().int(),
  title: z.string().nullable(),
  cwd: z.string(),
  version: z.string(),
  platform: z.string(),
  arch: z.string().optional(),
});

export const list = operation({
  title: 'List instances',
  summary: 'Every live Fairlead instance on this machine.',
  http: [{ method: 'GET', path: '/api/instances' }],
  access: 'observe',
  input: z.object({}),
  // Parsing drops unlisted fields, so that tokens never leave their owner's file.
  output: z.object({ instances: z.array(Public) }),
  run: async ({ engine }) => ({
    instances: engine
      .service(runningInstance)
      .peers.list()
      .map((record) => Public.parse(record)),
  }),
});

export const info = operation({
  title: 'This instance',
  summary: 'Metadata of this instance, its token included.',
  access: 'administer',
  destructive: false,
  openWorld: false,
  input: z.object({}),
  output: Public.extend({ auth_token: z.string() }),
  async run({ engine }) {
    const { record } = engine.service(runningInstance).own;
    return { ...Public.parse(record), auth_token: record.auth_token };
  },
});

export const set_title = operation({
  title: 'Name this instance',
  summary: 'Pin a title for this instance; null or empty clears it.',
  access: 'administer',
  destructive: false,
  openWorld: false,
  idempotent: true,
  input: z.object({ title: z.string().max(200).nullish().describe('New title') }),
  output: z.object({ ok: z.literal(true), title: z.string().nullable() }),
  positional: ['title'],
  about: ({ title }) => ({ detail: title?.trim() || 'none' }),
  async run({ input, engine }) {
    const title = input.title?.trim() || null;
    engine.service(runningInstance).own.update({ title });
    return { ok: true as const, title };
  },
});

export const focus = operation({
  title: 'Show this instance',
  summary: 'Ask the people attached to this instance to look at it, or at one of its sessions.',
  access: 'control',
  destructive: false,
  openWorld: false,
  input: z.object({ session_id: z.union([z.number(), z.string()]).optional().describe('A session of this instance') }),
  output: z.object({ ok: z.literal(true), delivered: z.number().int(), note: z.string().optional() }),
  async run(call) {
    const session = call.input.session_id === undefined ? undefined : (await sessionOf(call)).identity.number;
    let delivered = 0;
    call.engine.events.emit({
      kind: 'focus',
      session,
      heard: () => {
        delivered += 1;
      },
    });
    const what = session === undefined ? 'this instance' : `session ${session}`;
    const note = {
      note: `No one is attached to ${what}. Attach with: fairlead attach${session === undefined ? '' : ` ${session}`}`,
    };
    return { ok: true as const, delivered, ...(delivered === 0 ? note : {}) };
  },
});
