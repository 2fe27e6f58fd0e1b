import { z } from 'zod';
import { operation } from '../../engine/call/operation.ts';
import { policies } from '../../policy/policies.ts';
import { Policy } from '../../policy/policy.ts';
import { FileError, fileError } from '../file-error.ts';

export const set = operation({
  title: 'Set the policy',
  summary: 'Replace the policy for commands. Patterns: substring, re:<regex>, cmd:<program>.',
  access: 'control',
  openWorld: false,
  idempotent: true,
  http: [{ method: 'PUT', path: '/api/settings/policy' }],
  input: z.object({
    enabled: z.boolean().describe('Whether the policy is enforced'),
    blocked_patterns: Policy.shape.blocked_patterns
      .removeDefault()
      .optional()
      .describe('Block list: matching commands are refused. Omit to keep the current list'),
    allowed_patterns: Policy.shape.allowed_patterns
      .removeDefault()
      .optional()
      .describe('Allow list: if set, only matching commands run. Omit to keep the current list'),
    scope: Policy.shape.scope
      .removeDefault()
      .optional()
      .describe('input: judge typed lines too. Omit to keep the current scope'),
  }),
  output: z.object({ set: z.literal(true), changed: z.array(z.string()) }),
  async run({ input, engine, caller, note }) {
    const part = engine.service(policies);
    const before = part.get();
    const {
      enabled,
      blocked_patterns = before.blocked_patterns,
      allowed_patterns = before.allowed_patterns,
      scope = before.scope,
    } = input;
    const next = { enabled, blocked_patterns, allowed_patterns, scope };
    const changed = difference(before, next);
    note({ changes: changed });
    part.set(next, { mayLoosen: caller.may('administer') });
    return { set: true as const, changed };
  },
});

/** `+ blocked rm -rf /`, `- allowed ls`, `enabled true`: one line per change. */
export function difference(before: Policy, next: Policy): string[] {
  const lists = ['blocked', 'allowed'] as const;
  return [
    ...(before.enabled === next.enabled ? [] : [`enabled ${next.enabled}`]),
    ...lists.flatMap((list) => {
      const [old, now] = [before[`${list}_patterns`], next[`${list}_patterns`]];
      return [
        ...now.filter((one) => !old.includes(one)).map((one) => `+ ${list} ${one}`),
        ...old.filter((one) => !now.includes(one)).map((one) => `- ${list} ${one}`),
      ];
    }),
    ...(sameScope(before.scope, next.scope) ? [] : [`scope ${next.scope.join('+') || 'none'}`]),
  ];
}

const sameScope = (one: Policy['scope'], other: Policy['scope']): boolean =>
  one.length === other.length && one.every((word) => other.includes(word));

export const get = operation({
  title: 'Read the policy',
  cliDefault: true,
  summary: 'The current policy for commands.',
  access: 'observe',
  http: [{ method: 'GET', path: '/api/settings/policy' }],
  input: z.object({}),
  output: Policy.extend({ error: FileError }),
  run: async ({ engine }) => ({ ...engine.service(policies).get(), ...fileError(engine.service(policies).problem) }),
});

export const check = operation({
  title: 'Check a command',
  summary: 'Whether the policy would let a command run. Runs nothing.',
  access: 'observe',
  input: z.object({ command: z.string().min(1).describe('Command line to judge') }),
  output: z.object({
    allowed: z.boolean(),
    reason: z.string().optional(),
    pattern: z.string().optional(),
    list: z.enum(['blocked', 'allowed']).optional(),
  }),
  positional: ['command'],
  lastTakesRest: true,
  exitCode: ({ allowed }) => (allowed ? 0 : 5),
  run: async ({ input, engine }) => ({ ...engine.service(policies).check(input.command) }),
});
