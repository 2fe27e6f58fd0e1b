import { z } from 'zod';
import { auditTrail } from '../../engine/call/audit/trail.ts';
import { operation } from '../../engine/call/operation.ts';
import { policies } from '../../policy/policies.ts';
import { checkPolicy, judge, Policy } from '../../policy/policy.ts';
import { replayPolicy } from '../../policy/replay.ts';
import { difference } from '../session/policy.ts';

/** As many calls of the past as an answer judges, and as it names. */
const mostJudged = 5000;
const mostNamed = 200;
const dayMs = 86_400_000;

const Verdict = z.object({
  allowed: z.boolean(),
  reason: z.string(),
  pattern: z.string().optional(),
  list: z.enum(['blocked', 'allowed']).optional(),
});

const PastCall = z.object({
  at: z.string(),
  operation: z.string(),
  caller: z.string(),
  command: z.string(),
  isCut: z.boolean().describe('The trail holds only its beginning, and that is what was judged'),
  reason: z.string(),
  pattern: z.string().optional(),
});

const tryRules = operation({
  title: 'Try a policy',
  summary:
    'What a policy would do, before it is saved: to a command, and to the calls of the last days in the audit trail. Runs and changes nothing.',
  access: 'observe',
  input: z.strictObject({
    enabled: z.boolean().default(true).describe('Whether it would be enforced'),
    blocked_patterns: Policy.shape.blocked_patterns.removeDefault().optional().describe('Omit to use the saved list'),
    allowed_patterns: Policy.shape.allowed_patterns.removeDefault().optional().describe('Omit to use the saved list'),
    command: z.string().min(1).max(65_536).optional().describe('A command line to judge'),
    days: z.number().int().min(0).max(14).default(0).describe('Judge the calls of so many days'),
  }),
  output: z.object({
    changes: z.array(z.string()).describe('How it differs from the saved policy'),
    verdict: Verdict.optional().describe('Of the command'),
    calls: z.number().int().describe('Calls of the past that were judged'),
    cut: z.number().int().describe('Of them, those of which the trail holds only the beginning'),
    refused: z.array(PastCall).describe('Ran, and would be refused; newest first'),
    refused_total: z.number().int(),
    freed: z.array(PastCall).describe('Were refused, and would run; newest first'),
    freed_total: z.number().int(),
  }),
  positional: ['command'],
  lastTakesRest: true,
  async run({ input, engine, signal }) {
    const saved = engine.service(policies).get();
    const { enabled, blocked_patterns = saved.blocked_patterns, allowed_patterns = saved.allowed_patterns } = input;
    const draft: Policy = { enabled, blocked_patterns, allowed_patterns, scope: saved.scope };
    checkPolicy(draft);
    const since = engine.clock.now() - input.days * dayMs;
    const wanted = {
      since,
      fits: ({ at, judged }: { at: string; judged?: true }) => judged === true && Date.parse(at) >= since,
    };
    const past =
      input.days === 0
        ? []
        : await engine.service(auditTrail).newest(wanted, engine.audit.entries(), mostJudged, signal);
    const { calls, cut, refused, freed } = replayPolicy(draft, past);
    return {
      changes: difference(saved, draft),
      ...(input.command !== undefined && { verdict: { ...judge(draft, input.command) } }),
      calls,
      cut,
      refused: refused.slice(0, mostNamed),
      refused_total: refused.length,
      freed: freed.slice(0, mostNamed),
      freed_total: freed.length,
    };
  },
  render: ({ verdict, calls, cut, refused, refused_total, freed, freed_total, changes }) =>
    [
      ...changes,
      ...(verdict ? [`${verdict.allowed ? 'It would run' : 'It would be refused'}: ${verdict.reason}`] : []),
      ...(calls > 0
        ? [
            `Of ${calls} calls (${cut} known by their beginning), ${refused_total} would be refused and ${freed_total} more would run.`,
          ]
        : []),
      ...refused.map(({ at, caller, command, reason }) => `- ${at} ${caller}: ${command} (${reason})`),
      ...freed.map(({ at, caller, command, reason }) => `+ ${at} ${caller}: ${command} (${reason})`),
    ].join('\n') || 'It is the saved policy.',
});
export { tryRules as try };
