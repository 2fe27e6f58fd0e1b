import { z } from 'zod';
import { operation } from '../../engine/call/operation.ts';
import { type ConversationItem, ConversationShape, PauseShape } from './agent-shapes.ts';

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
  render: ({ conversations }) =>
    conversations.length === 0 ? 'No agent has called yet.' : conversations.map(agentLine).join('\n'),
});

export function agentLine({ id, agent, origin, state, counts, held, last, pause }: ConversationItem): string {
  const parts = [
    state,
    ...(pause ? [`by ${pause.by}`] : []),
    `${counts.calls} calls`,
    ...(counts.denied > 0 ? [`${counts.denied} denied`] : []),
    ...(counts.failed > 0 ? [`${counts.failed} failed`] : []),
    ...(held.length > 0 ? [`${held.length} held`] : []),
    ...(last ? [`last ${last.op} at ${new Date(last.at).toISOString()}`] : []),
  ];
  return `${id}  ${agent} (${origin})  ${parts.join(', ')}`;
}
