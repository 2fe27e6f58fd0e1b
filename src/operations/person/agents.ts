import { z } from 'zod';
import { FairleadError } from '../../contract/errors.ts';
import type { Caller } from '../../engine/call/call.ts';
import { operation } from '../../engine/call/operation.ts';
import type { AgentConversation } from '../../engine/agents/conversation.ts';
import type { PausedCall } from '../../engine/agents/hold-queue.ts';
import type { Engine } from '../../engine/engine.ts';
import { type ConversationItem, ConversationShape, PauseShape } from './agent-shapes.ts';

const Id = z.string().min(1).max(128);
const conversations = z.array(Id).min(1).max(500).optional();
const HoldId = z.string().min(1).max(64);
/** Acts on what Fairlead keeps itself: a queue and a few marks. */
const here = { access: 'control', destructive: false, idempotent: true, openWorld: false } as const;

export const list = operation({
  title: 'List agents',
  summary: 'List the agents that called this instance, with their calls, and whether they are paused.',
  access: 'observe',
  input: z.strictObject({}),
  output: z.object({
    conversations: z.array(ConversationShape),
    pause: PauseShape.nullable().describe('Everything is paused'),
  }),
  cliDefault: true,
  async run({ engine, caller }) {
    return { conversations: engine.agents.list(caller), pause: engine.agents.pauseStatus(caller) ?? null };
  },
  render({ conversations: all, pause: everything }) {
    const lines = all.flatMap((one) => [agentLine(one), ...one.held.map((held) => `  ${heldLine(held)}`)]);
    if (all.length === 0) lines.push('No agent has called yet.');
    return [...(everything ? [pauseLine(everything)] : []), ...lines].join('\n');
  },
});

export const pauseAgents = operation({
  title: 'Pause agents',
  summary:
    'Pause everything, or some agents: calls that change something wait in order, reads are refused, running commands go on.',
  ...here,
  input: z.strictObject({
    conversations: conversations.describe('Only these; without any, everything, also agents that come later'),
  }),
  output: z.object({ conversations: z.array(ConversationShape), pause: PauseShape.nullable() }),
  positional: ['conversations'],
  about: ({ conversations: ids }) => ({ detail: ids?.join(' ') ?? 'everything' }),
  async run({ input, engine, caller }) {
    const { agents, clock } = engine;
    const mark = { by: caller.name, at: clock.now() };
    const chosen = chosenOf(input.conversations, engine, caller);
    if (chosen) agents.pauses.pause(chosen, mark);
    else agents.pauses.pauseAll(mark, agents.conversations.of(caller.principal));
    return answerOf(chosen, engine, caller);
  },
  render: ({ conversations: all, pause: everything }) =>
    [...(everything ? [pauseLine(everything)] : []), ...all.map(agentLine)].join('\n') || 'Paused.',
});

export const resume = operation({
  title: 'Resume agents',
  summary:
    'Resume everything, or some agents. Their held calls run in order, one at a time; or only some of them, or none.',
  access: 'control',
  input: z.strictObject({
    conversations: conversations.describe('Only these; without any, all that have no pause of their own'),
    held: z.enum(['run', 'drop']).default('run').describe('What becomes of the calls that wait'),
    only: z.array(HoldId).max(1000).optional().describe('Of the calls that wait run only these, drop the others'),
  }),
  output: z.object({
    conversations: z.array(ConversationShape).describe('As they are now'),
    running: z.array(z.string()).describe('Held calls that run now, in order'),
    dropped: z.array(z.string()),
    paused: z.array(z.string()).describe('Conversations that stay paused by a pause of their own'),
  }),
  positional: ['conversations'],
  about: ({ conversations: ids, held, only }) => ({
    detail: [
      ids?.join(' ') ?? 'everything',
      ...(held === 'drop' ? ['drop'] : []),
      ...(only ? [`only ${only.join(' ')}`] : []),
    ].join(', '),
  }),
  async run({ input, engine, caller }) {
    const { agents } = engine;
    const { holding, pauses } = agents;
    const chosen = chosenOf(input.conversations, engine, caller);
    const known = new Set(holding.holds.all.map(({ id }) => id));
    const stranger = input.only?.find((id) => !known.has(id));
    if (stranger !== undefined) throw noHold(stranger);
    const own = agents.conversations.of(caller.principal);
    const freed = chosen ?? own.filter((one) => one.pause === undefined);
    const waiting = holding.holds.all.filter(({ conversation }) => freed.includes(conversation));
    const runs = ({ id }: PausedCall): boolean => input.held === 'run' && (input.only?.includes(id) ?? true);
    // Dropped before anything may run.
    const dropped = holding.drop(
      waiting.filter((one) => !runs(one)),
      caller.name,
    );
    if (chosen) pauses.resume(chosen);
    else pauses.resumeAll();
    holding.resume();
    return {
      conversations: freed.map((one) => agents.statusOf(one)),
      running: waiting.filter((one) => !dropped.includes(one)).map(({ id }) => id),
      dropped: dropped.map(({ id }) => id),
      paused: own.filter((one) => pauses.isPaused(one)).map(({ id }) => id),
    };
  },
  render: ({ running, dropped, paused }) =>
    [
      `Resumed. Held calls that run now: ${running.length}; dropped: ${dropped.length}.`,
      ...(paused.length > 0 ? [`Paused on their own: ${paused.join(', ')}.`] : []),
    ].join('\n'),
});

export const drop = operation({
  title: 'Drop held calls',
  summary: 'Drop calls that wait because of a pause: single ones, or all of an agent. They never run; the pause stays.',
  access: 'control',
  openWorld: false,
  input: z.strictObject({
    holds: z.array(HoldId).min(1).max(1000).optional().describe('These calls'),
    conversations: conversations.describe('All that wait for these agents'),
  }),
  output: z.object({ dropped: z.array(z.string()) }),
  positional: ['holds'],
  about: ({ holds, conversations: ids }) => ({ detail: [...(holds ?? []), ...(ids ?? [])].join(' ') }),
  async run({ input, engine, caller }) {
    const { holding } = engine.agents;
    if (!input.holds && !input.conversations) {
      throw new FairleadError('invalid_input', 'holds: give the calls to drop, or conversations.', {
        hint: 'agents.list shows the calls that wait.',
      });
    }
    const chosen = chosenOf(input.conversations, engine, caller) ?? [];
    const single = (input.holds ?? []).map((id) => {
      const held = holding.holds.withId(id);
      if (held?.conversation.principal !== caller.principal) throw noHold(id);
      return held;
    });
    const all = new Set([...single, ...holding.holds.all.filter(({ conversation }) => chosen.includes(conversation))]);
    return { dropped: holding.drop([...all], caller.name).map(({ id }) => id) };
  },
  render: ({ dropped }) => `Dropped ${dropped.length} ${dropped.length === 1 ? 'call' : 'calls'}.`,
});

export const revoke = operation({
  title: 'Revoke an agent',
  summary:
    'End a conversation: its held calls are dropped and its further calls refused until you approve it again. Its terminals stay open.',
  access: 'administer',
  openWorld: false,
  idempotent: true,
  input: z.strictObject({ conversation: Id.describe('Of agents.list') }),
  output: z.object({ conversation: ConversationShape, dropped: z.array(z.string()) }),
  positional: ['conversation'],
  about: ({ conversation }) => ({ detail: conversation }),
  async run({ input, engine, caller }) {
    const found = engine.agents.withId(input.conversation, caller);
    const dropped = engine.agents.revoke(found, caller.name).map(({ id }) => id);
    return { conversation: engine.agents.statusOf(found), dropped };
  },
  render: ({ conversation, dropped }) =>
    `Revoked ${conversation.agent}. Held calls that were dropped: ${dropped.length}.`,
});

export const approve = operation({
  title: 'Approve an agent again',
  summary: 'Let an agent go on whose conversation was revoked.',
  ...here,
  access: 'administer',
  input: z.strictObject({ conversation: Id.describe('Of agents.list') }),
  output: z.object({ conversation: ConversationShape }),
  positional: ['conversation'],
  about: ({ conversation }) => ({ detail: conversation }),
  async run({ input, engine, caller }) {
    const found = engine.agents.withId(input.conversation, caller);
    engine.agents.approve(found);
    return { conversation: engine.agents.statusOf(found) };
  },
  render: ({ conversation }) => `Approved ${conversation.agent}.`,
});

/** Throws when there is no such conversation. Undefined: none was named. */
function chosenOf(
  ids: readonly string[] | undefined,
  { agents }: Engine,
  caller: Caller,
): AgentConversation[] | undefined {
  return ids?.map((id) => agents.withId(id, caller));
}

function answerOf(chosen: readonly AgentConversation[] | undefined, { agents }: Engine, caller: Caller) {
  return {
    conversations: chosen ? chosen.map((one) => agents.statusOf(one)) : agents.list(caller),
    pause: agents.pauseStatus(caller) ?? null,
  };
}

const noHold = (id: string): FairleadError =>
  new FairleadError('not_found', `There is no held call ${id}.`, {
    hint: 'It may have run, or been dropped. agents.list shows the calls that wait.',
  });

export function agentLine({ id, agent, origin, state, counts, held, last, pause: paused }: ConversationItem): string {
  const parts = [
    state,
    ...(paused ? [`by ${paused.by}`] : []),
    `${counts.calls} calls`,
    ...(counts.denied > 0 ? [`${counts.denied} denied`] : []),
    ...(counts.failed > 0 ? [`${counts.failed} failed`] : []),
    ...(held.length > 0 ? [`${held.length} held`] : []),
    ...(last ? [`last ${last.op} at ${new Date(last.at).toISOString()}`] : []),
  ];
  return `${id}  ${agent} (${origin})  ${parts.join(', ')}`;
}

const heldLine = ({ id, op, preview, would }: ConversationItem['held'][number]): string =>
  `${id}  ${op}: ${preview}  (${would.words})`;

export const pauseLine = ({ by, at, held, running }: z.output<typeof PauseShape>): string =>
  `Everything is paused by ${by} since ${new Date(at).toISOString()}. Held calls: ${held}. Commands that go on: ${running}.`;
