import { z } from 'zod';
import { operation } from '../../engine/call/operation.ts';
import type { StreamLane } from '../../streams/stream-lane.ts';
import { streams } from '../../streams/streams.ts';
import { atSecond } from '../remote/session-entry.ts';
import { replyText, type Value } from '../remote/text.ts';
import { aboutLane, Base, filterWords, LaneId } from './lanes.ts';

const Whole = z.number().int();
const Warnings = z.array(z.string()).optional();

const Sub = z.object({
  sub_id: z.string(),
  kind: z.string(),
  resource_id: z.string(),
  uri: z.string(),
  lifetime: z.string(),
  lag_policy: z.string(),
  paused: z.boolean(),
  filter: z.string(),
  created_at: z.string(),
  events_sent: Whole,
  bytes_sent: Whole,
});

export const list = operation({
  mcpName: 'sub_list',
  title: 'List lanes',
  cost: 'O(lanes), local',
  summary: 'List your lanes.',
  access: 'observe',
  input: z.object({
    uri_prefix: z.string().optional().describe('Start of the URI'),
    peer_id: z.string().optional().describe('Ignored'),
  }),
  output: Base.omit({ sub_id: true }).extend({
    subs_total: Whole.optional(),
    subs: z.array(Sub).optional(),
    warnings: Warnings,
  }),
  async run({ input: { uri_prefix = '' }, engine, caller }) {
    const own = engine.service(streams).lanes(caller);
    const lanes = own.filter(({ request }) => request.uri.plain.startsWith(uri_prefix));
    return {
      tool: 'sub_list',
      status: 'ok',
      subs_total: lanes.length,
      subs: lanes.map(entry),
      ...warningsOf(lanes),
    };
  },
  render: (output) =>
    replyText(output, {
      fields: { SUBS_TOTAL: output.subs_total },
      rows: (output.subs ?? []).map(({ sub_id, uri, kind: _kind, resource_id: _id, ...facts }) =>
        [sub_id, uri, ...Object.entries(facts).map(([name, value]) => `${name}=${value}`)].join(' '),
      ),
    }),
});

function entry(lane: StreamLane): z.output<typeof Sub> {
  const { subId, request, resource, isPaused, createdAt } = lane;
  const { eventsSent, bytesSent } = lane.lane.counters;
  return {
    sub_id: subId,
    kind: resource.scheme,
    resource_id: resource.id,
    uri: request.uri.plain,
    lifetime: request.lifetime,
    lag_policy: request.lagPolicy,
    paused: isPaused,
    filter: filterWords(lane),
    created_at: atSecond(createdAt),
    events_sent: eventsSent,
    bytes_sent: bytesSent,
  };
}

/** Each with the lane it is about, where there may be several. */
const warningsOf = (lanes: readonly StreamLane[], isOne = false): { readonly warnings?: string[] } => {
  const warnings = lanes.flatMap(({ subId, warnings: own }) => own.map((one) => (isOne ? one : `${subId} ${one}`)));
  return warnings.length === 0 ? {} : { warnings };
};

const Stats = z.object({
  events_sent: Whole,
  bytes_sent: Whole,
  lag_drops: Whole,
  queue_depth: Whole,
  last_event_at: z.string().optional(),
  lagged_recoveries: Whole,
  queue_high_watermark: Whole,
  block_total_ms: Whole,
  byte_triggered_flushes: Whole,
  filtered: Whole,
  notifications_sent: Whole,
  cursor: Whole,
  paused: z.boolean(),
});

export const stats = operation({
  mcpName: 'sub_stats',
  title: 'Counters of a lane',
  cost: 'O(1), local',
  summary: 'What a lane delivered, dropped and holds.',
  access: 'observe',
  input: z.object({ sub_id: LaneId }),
  output: Base.extend({ uri: z.string().optional(), ...Stats.partial().shape, warnings: Warnings }),
  positional: ['sub_id'],
  about: aboutLane,
  async run({ input: { sub_id }, engine, caller }) {
    const lane = engine.service(streams).lane(sub_id, caller);
    const uri = lane.request.uri.plain;
    return { tool: 'sub_stats', status: 'ok', sub_id, uri, ...statsOf(lane), ...warningsOf([lane], true) };
  },
  render: ({ tool, status, warnings, ...facts }) => replyText({ tool, status, warnings }, { fields: upperCase(facts) }),
});

function statsOf(stream: StreamLane): z.output<typeof Stats> {
  const { lane, lastEventAt } = stream;
  const { eventsSent, bytesSent, lagDrops, laggedRecoveries, queueHighWatermark, filtered } = lane.counters;
  return {
    events_sent: eventsSent,
    bytes_sent: bytesSent,
    lag_drops: lagDrops,
    queue_depth: lane.depth,
    ...(lastEventAt === undefined ? {} : { last_event_at: new Date(lastEventAt).toISOString() }),
    lagged_recoveries: laggedRecoveries,
    queue_high_watermark: queueHighWatermark,
    block_total_ms: Math.round(stream.blockedMs),
    byte_triggered_flushes: stream.byteFlushes,
    filtered,
    notifications_sent: stream.notificationsSent,
    cursor: lane.delivered,
    paused: stream.isPaused,
  };
}

const upperCase = (facts: Readonly<Record<string, Value>>): Record<string, Value> =>
  Object.fromEntries(Object.entries(facts).map(([name, value]) => [name.toUpperCase(), value]));

export const statsAll = operation({
  mcpName: 'sub_stats_all',
  title: 'Counters of all lanes',
  cost: 'O(lanes), local',
  summary: 'The counters of your lanes together.',
  access: 'observe',
  input: z.object({}),
  output: Base.omit({ sub_id: true }).extend({
    lanes_total: Whole.optional(),
    events_sent: Whole.optional(),
    bytes_sent: Whole.optional(),
    lag_drops: Whole.optional(),
    queue_depth_max: Whole.optional(),
    lagged_recoveries: Whole.optional(),
    byte_triggered_flushes: Whole.optional(),
  }),
  async run({ engine, caller }) {
    const all = engine.service(streams).lanes(caller).map(statsOf);
    const sum = (name: 'events_sent' | 'bytes_sent' | 'lag_drops' | 'lagged_recoveries' | 'byte_triggered_flushes') =>
      all.reduce((total, one) => total + one[name], 0);
    return {
      tool: 'sub_stats_all',
      status: 'ok',
      lanes_total: all.length,
      events_sent: sum('events_sent'),
      bytes_sent: sum('bytes_sent'),
      lag_drops: sum('lag_drops'),
      queue_depth_max: Math.max(0, ...all.map(({ queue_depth }) => queue_depth)),
      lagged_recoveries: sum('lagged_recoveries'),
      byte_triggered_flushes: sum('byte_triggered_flushes'),
    };
  },
  render: ({ tool, status, ...facts }) => replyText({ tool, status }, { fields: upperCase(facts) }),
});
