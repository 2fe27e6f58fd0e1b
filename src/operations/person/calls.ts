import { z } from 'zod';
import { FairleadError } from '../../contract/errors.ts';
import { auditTrail } from '../../engine/call/audit/trail.ts';
import type { AuditTrail } from '../../engine/call/audit/trail.ts';
import { operation, stream } from '../../engine/call/operation.ts';
import { callKinds } from '../../engine/agents/call-log.ts';
import { callPage } from '../../engine/agents/older-calls.ts';
import { watchCalls } from '../../engine/agents/watch-calls.ts';
import type { Engine } from '../../engine/engine.ts';
import { CallItem } from './agent-shapes.ts';

const filters = {
  conversation: z.string().max(128).optional().describe('Only of this agent'),
  terminal: z.string().max(64).optional().describe('Only in the terminal with this id'),
  text: z.string().max(200).optional().describe('Only with this text in operation, preview or name'),
  kind: z.enum(callKinds).default('all').describe('Commands, decisions of people and rules, or what failed'),
};

export const list = operation({
  title: 'List calls',
  summary: 'List what agents called and people did, the newest first, up to two weeks back.',
  access: 'observe',
  input: z.strictObject({
    before: z.string().max(64).optional().describe('Go on behind the call with this id'),
    limit: z.number().int().min(1).max(1000).default(100).describe('At most so many'),
    ...filters,
  }),
  output: z.object({ calls: z.array(CallItem), more: z.boolean() }),
  cliDefault: true,
  async run({ input, engine, signal }) {
    const { before, limit, ...filter } = input;
    const rows = engine.agents.calls.rows();
    return await callPage({ before, limit, filter }, rows, trailOf(engine), engine.clock.now(), signal);
  },
  render: ({ calls, more }) =>
    calls.length === 0
      ? 'No calls.'
      : [...calls.map(callLine), ...(more ? [`More: --before ${calls.at(-1)?.id ?? ''}`] : [])].join('\n'),
});

/** Absent where the calls of this process are all there is. */
function trailOf(engine: Engine): AuditTrail | undefined {
  try {
    return engine.service(auditTrail);
  } catch (thrown) {
    if (thrown instanceof FairleadError && thrown.code === 'unsupported') return undefined;
    throw thrown;
  }
}

export const watch = stream({
  title: 'Watch calls',
  summary: 'Watch what agents call and people do: first the newest calls, then each again when it changes.',
  access: 'observe',
  input: z.strictObject({
    head: z.number().int().min(0).max(1000).default(100).describe('So many of the newest calls first'),
    ...filters,
  }),
  item: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('head'), calls: z.array(CallItem).describe('The newest first') }),
    z.object({ kind: z.literal('call'), call: CallItem }),
  ]),
  async *run({ input: { head, ...filter }, engine, signal }) {
    yield* watchCalls(engine.agents.calls, filter, head, signal);
  },
  render: (item) =>
    item.kind === 'head'
      ? item.calls
          .toReversed()
          .map((one) => `${callLine(one)}\n`)
          .join('')
      : `${callLine(item.call)}\n`,
});

function callLine({ at, who, op, terminal, phase, code, exit, ms, preview, ended }: CallItem): string {
  const result = [phase, code, exit === undefined ? undefined : `exit ${exit}`, ended, `${ms} ms`];
  const where = terminal === undefined ? '' : ` in ${terminal}`;
  const words = result.filter((part) => part !== undefined && part !== phaseTwice(phase, part)).join(', ');
  return `${new Date(at).toISOString()}  ${who.name}: ${op}${where}  ${words}${preview === '' ? '' : `  ${preview}`}`;
}

/** A held call has `held` for its code, too. */
const phaseTwice = (phase: string, part: string): string | undefined =>
  phase === 'held' && part === 'held' ? '' : undefined;
