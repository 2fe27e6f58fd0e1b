import { z } from 'zod';
import { conversationStates } from '../../engine/agents/shapes.ts';
import { callPhases } from '../../engine/call/audit/audit.ts';
import { type ErrorCode, errorTable } from '../../contract/errors.ts';

const Time = z.number().describe('In ms since 1970');
const Mark = z.object({ by: z.string(), at: Time });

const HeldShape = z.object({
  id: z.string(),
  call: z.string().describe('Its row of the timeline'),
  op: z.string(),
  preview: z.string(),
  terminal: z.string().optional(),
  since: Time,
  until: z.number().describe('When it is dropped'),
  isRunning: z.boolean(),
  would: z.object({ kind: z.enum(['runs', 'fails', 'refused']), words: z.string() }).describe('If it ran now'),
});

export const ConversationShape = z.object({
  id: z.string(),
  agent: z.string().describe('As the client calls itself'),
  origin: z.enum(['mcp', 'rpc', 'http', 'cli']),
  address: z.string().optional(),
  state: z.enum(conversationStates),
  pause: Mark.extend({ all: z.boolean().describe('It is paused because everything is') }).optional(),
  revoked: Mark.optional(),
  since: Time,
  connected: z.boolean().optional().describe('Absent: its protocol cannot tell'),
  counts: z.object({
    calls: z.number().int(),
    denied: z.number().int(),
    held: z.number().int(),
    failed: z.number().int(),
  }),
  bytesRead: z.number().int().describe('Size of all answers, about'),
  last: z.object({ at: Time, op: z.string(), terminal: z.string().optional() }).optional(),
  held: z.array(HeldShape).describe('Calls that wait, in order'),
});

export const PauseShape = Mark.extend({
  held: z.number().int().describe('Calls that wait'),
  running: z.number().int().describe('Commands of agents that go on'),
});

const codes = Object.keys(errorTable) as [ErrorCode, ...ErrorCode[]];

export const CallItem = z.object({
  id: z.string().describe('Sorts as the calls began'),
  at: Time,
  conversation: z.string().optional().describe('Absent for what a person did'),
  who: z.object({ kind: z.enum(['agent', 'person']), name: z.string() }),
  op: z.string(),
  access: z.enum(['observe', 'control', 'open', 'administer']),
  isCommand: z.boolean().describe('It has a shell run command lines'),
  phase: z.enum(callPhases),
  preview: z.string(),
  bytes: z.number().int().describe('Size of the answer, about'),
  ms: z.number().int(),
  code: z.enum(codes).optional(),
  terminal: z.string().optional(),
  from: z.number().int().optional().describe('Offset of the output that came while it ran'),
  to: z.number().int().optional(),
  block: z.number().int().optional().describe('The command that it started'),
  exit: z.number().int().optional(),
  recording: z.object({ id: z.string(), t: z.number() }).optional().describe('Seconds into it, as it plays'),
  ended: z.string().optional().describe('Who dropped a held call, or why it was dropped'),
  until: z.number().optional().describe('When a held call is dropped'),
});
export type CallItem = z.output<typeof CallItem>;
export type ConversationItem = z.output<typeof ConversationShape>;
