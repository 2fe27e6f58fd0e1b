import { z } from 'zod';
import { remoteError } from '../../contract/remote-errors.ts';
import { operation } from '../../engine/call/operation.ts';
import { compileFilter } from '../../streams/line-filter.ts';
import { lagPolicies, lifetimes } from '../../streams/settings.ts';
import type { StreamLane } from '../../streams/stream-lane.ts';
import { streams } from '../../streams/streams.ts';
import { parseUri } from '../../streams/uri.ts';
import { nextOf, toolStep } from '../remote/advice.ts';
import { Id } from '../remote/connect-for.ts';
import { usually } from '../remote/limits.ts';
import { deadline } from '../remote/session-entry.ts';
import { replyText } from '../remote/text.ts';

/** A lane changes nothing but what its own client sees: reading may do it. */
export const ownView = { access: 'observe', readOnly: false, openWorld: false, keyed: true } as const;

export const LaneId = Id.describe('SUB_ID');

export const Base = z.object({ tool: z.string(), status: z.string(), sub_id: z.string().optional() });
export const aboutLane = ({ sub_id }: { readonly sub_id: string }) => ({ detail: sub_id });
const Whole = z.number().int().min(0);

const graceMs = { least: 100, most: 3_600_000, usual: 2000 };
const ttlSecs = { least: 1, most: 86_400, usual: 60 };

const within = (value: number | undefined, { least, most, usual }: typeof graceMs): number =>
  Math.min(Math.max(value ?? usual, least), most);

export const open = operation({
  mcpName: 'sub_open',
  title: 'Open a lane',
  cost: 'O(1), async',
  summary:
    'Follow a resource in a queue of your own. Updates are notified; read URI?sub=SUB_ID as a resource to drain it.',
  ...ownView,
  destructive: false,
  input: z.object({
    uri: z
      .string()
      .max(2048)
      .describe('command://<id>/output, shell://…/output, session://…/health, terminal://…/output'),
    lifetime: z.enum(lifetimes).default('manual').describe('When it ends (manual)'),
    grace_ms: usually(Whole, graceMs.usual).describe('auto_close: ends when unread for so long (2000)'),
    ttl_secs: usually(Whole, ttlSecs.usual).describe('lease (60)'),
    lag_policy: usually(z.enum(lagPolicies), 'snapshot').describe('When its queue is full (snapshot)'),
    filter: z.string().optional().describe('RE2 regex; only lines that match'),
  }),
  output: Base.extend({
    uri: z.string().optional(),
    lifetime: z.enum(lifetimes).optional(),
    lag_policy: z.enum(lagPolicies).optional(),
    grace_ms: Whole.optional(),
    ttl_secs: Whole.optional(),
    expires_at: z.string().optional(),
    hint: z.string().optional(),
    next: z.string().optional(),
  }),
  positional: ['uri'],
  about: ({ uri }) => ({ detail: uri }),
  faults: {
    lifetime: (reason) => remoteError('INVALID_LIFETIME', reason),
    lag_policy: (reason) => remoteError('INVALID_LAG_POLICY', reason),
  },
  async run({ input, engine, caller }) {
    const service = engine.service(streams);
    const uri = parseUri(input.uri);
    const { lagPolicy = service.settings.lagPolicy } = { lagPolicy: input.lag_policy };
    if (lagPolicy === 'block_slow' && !caller.may('control')) {
      throw remoteError(
        'POLICY_BLOCKED',
        'lag_policy: block_slow stops what is followed, and this server is read-only',
        {
          context: 'use snapshot',
        },
      );
    }
    const { lifetime } = input;
    const lane = service.openLane(
      {
        uri,
        lifetime,
        graceMs: within(input.grace_ms, graceMs),
        ttlMs: within(input.ttl_secs, ttlSecs) * 1000,
        lagPolicy,
        filter: input.filter ? compileFilter(input.filter, service.settings.filterMax) : undefined,
      },
      caller,
    );
    return {
      tool: 'sub_open',
      status: 'ok',
      sub_id: lane.subId,
      uri: uri.plain,
      lifetime,
      lag_policy: lagPolicy,
      grace_ms: lifetime === 'auto_close' ? lane.request.graceMs : 0,
      ...(lifetime === 'lease' && { ttl_secs: lane.request.ttlMs / 1000 }),
      ...expiryOf(lane),
      hint: 'REQUIRED: track this SUB_ID; sub_close when done.',
      ...nextOf(caller, [
        toolStep('sub_close', ` sub_id=${lane.subId}`),
        toolStep('sub_stats', ` sub_id=${lane.subId}`),
      ]),
    };
  },
  render: (output) =>
    replyText(output, {
      fields: {
        SUB_ID: output.sub_id,
        URI: output.uri,
        LIFETIME: output.lifetime,
        LAG_POLICY: output.lag_policy,
        GRACE_MS: output.grace_ms || undefined,
        TTL_SECS: output.ttl_secs,
        EXPIRES_AT: output.expires_at,
      },
    }),
});

const expiryOf = ({ expiresAt }: StreamLane): { readonly expires_at?: string } =>
  expiresAt === undefined ? {} : { expires_at: deadline(expiresAt) };

export const close = operation({
  mcpName: 'sub_close',
  title: 'Close a lane',
  cost: 'O(1), local',
  summary: 'Close a lane. What its resource does when its last subscriber left is up to release_when_no_subs.',
  ...ownView,
  destructive: true,
  idempotent: true,
  input: z.object({ sub_id: LaneId }),
  output: Base.extend({
    uri: z.string().optional(),
    lifecycle_state: z.enum(['owned', 'observed', 'releasing', 'closed']).optional(),
  }),
  positional: ['sub_id'],
  about: aboutLane,
  async run({ input: { sub_id }, engine, caller }) {
    const lane = engine.service(streams).closeLane(sub_id, caller);
    if (!lane) return { tool: 'sub_close', status: 'not_found', sub_id };
    const { request, topic } = lane;
    return { tool: 'sub_close', status: 'ok', sub_id, uri: request.uri.plain, lifecycle_state: topic.state };
  },
  render: (output) =>
    replyText(output, {
      fields: { SUB_ID: output.sub_id, URI: output.uri, LIFECYCLE_STATE: output.lifecycle_state },
    }),
});

const Paused = Base.extend({
  paused: z.boolean().optional(),
  expires_at: z.string().optional(),
  next: z.string().optional(),
});

export const pauseLane = operation({
  mcpName: 'sub_pause',
  title: 'Pause a lane',
  cost: 'O(1), local',
  summary: 'Stop notifications and reads of a lane; its events queue under its lag policy.',
  ...ownView,
  destructive: false,
  idempotent: true,
  input: z.object({ sub_id: LaneId }),
  output: Paused,
  positional: ['sub_id'],
  about: aboutLane,
  async run({ input: { sub_id }, engine, caller }) {
    const lane = engine.service(streams).lane(sub_id, caller);
    const status = lane.isPaused ? 'noop' : 'ok';
    lane.pause();
    return {
      tool: 'sub_pause',
      status,
      sub_id,
      paused: true,
      ...nextOf(caller, status === 'ok' ? [toolStep('sub_resume', ` sub_id=${sub_id}`)] : []),
    };
  },
  render: (output) => replyText(output, { fields: { SUB_ID: output.sub_id, PAUSED: output.paused } }),
});

export const resume = operation({
  mcpName: 'sub_resume',
  title: 'Resume a lane',
  cost: 'O(1), local',
  summary: 'Go on with a paused lane, and renew a lease.',
  ...ownView,
  destructive: false,
  idempotent: true,
  input: z.object({ sub_id: LaneId }),
  output: Paused,
  positional: ['sub_id'],
  about: aboutLane,
  async run({ input: { sub_id }, engine, caller }) {
    const lane = engine.service(streams).lane(sub_id, caller);
    const isNoop = !lane.isPaused && lane.expiresAt === undefined;
    lane.resume();
    return { tool: 'sub_resume', status: isNoop ? 'noop' : 'ok', sub_id, paused: false, ...expiryOf(lane) };
  },
  render: (output) =>
    replyText(output, { fields: { SUB_ID: output.sub_id, PAUSED: output.paused, EXPIRES_AT: output.expires_at } }),
});

export const filter = operation({
  mcpName: 'sub_filter',
  title: 'Filter a lane',
  cost: 'O(regex), local',
  summary: 'Change the filter of a lane: it then delivers the lines that match.',
  ...ownView,
  destructive: false,
  idempotent: true,
  input: z.object({ sub_id: LaneId, regex: z.string().describe('RE2; "" for all lines') }),
  output: Base.extend({ filter: z.string().optional() }),
  positional: ['sub_id', 'regex'],
  cliFlags: { regex: 'pattern' },
  about: aboutLane,
  async run({ input: { sub_id, regex }, engine, caller }) {
    const service = engine.service(streams);
    const lane = service.lane(sub_id, caller);
    lane.filter = regex === '' ? undefined : compileFilter(regex, service.settings.filterMax);
    return { tool: 'sub_filter', status: 'ok', sub_id, filter: filterWords(lane) };
  },
  render: (output) => replyText(output, { fields: { SUB_ID: output.sub_id, FILTER: output.filter } }),
});

/** `none` or `regex:<text>` */
export const filterWords = ({ filter: pattern }: StreamLane): string =>
  pattern === undefined ? 'none' : `regex:${pattern.source}`;

export const replay = operation({
  mcpName: 'sub_replay',
  title: 'Replay a lane',
  cost: 'O(1), local; bytes come with the next read',
  summary: 'Let a lane deliver again from a cursor on; what was queued is replaced.',
  ...ownView,
  destructive: false,
  idempotent: true,
  input: z.object({
    sub_id: LaneId,
    from_cursor: Whole.default(0).describe('0: as far back as possible'),
  }),
  output: Base.extend({ from_cursor: Whole.optional(), bytes: Whole.optional() }),
  positional: ['sub_id', 'from_cursor'],
  about: aboutLane,
  async run({ input: { sub_id, from_cursor }, engine, caller }) {
    const { from, units } = engine.service(streams).replay(sub_id, from_cursor, caller);
    return { tool: 'sub_replay', status: 'ok', sub_id, from_cursor: from, bytes: units };
  },
  render: (output) =>
    replyText(output, { fields: { SUB_ID: output.sub_id, FROM_CURSOR: output.from_cursor, BYTES: output.bytes } }),
});
