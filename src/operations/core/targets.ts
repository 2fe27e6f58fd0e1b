import { z } from 'zod';
import { operation } from '../../engine/call/operation.ts';

const Target = z.object({
  target: z.string(),
  summary: z.string(),
  kind: z.string().describe('First word of the target: local, ssh'),
  address: z.string().optional(),
  user: z.string().optional(),
  isPattern: z.boolean().optional().describe('A form to fill in'),
  inUseBy: z.string().optional().describe('What has it, where only one at a time can'),
  terminals: z.number().int().describe('Open there now'),
});

export const list = operation({
  mcpName: 'targets',
  title: 'List targets',
  summary: 'What terminal_open can open.',
  access: 'observe',
  input: z.strictObject({}),
  output: z.object({ targets: z.array(Target), shells: z.array(z.string()) }),
  async run({ engine, caller }) {
    const { targets, shells } = await engine.describeTargets();
    const open = engine.sessions.all(caller).filter(({ ended }) => !ended);
    return {
      targets: targets.map(({ inUseBy, ...one }) => ({
        ...one,
        kind: one.target.split(':', 1)[0] ?? one.target,
        ...(inUseBy !== undefined && { inUseBy }),
        terminals: open.filter(({ identity }) => identity.target === one.target).length,
      })),
      shells,
    };
  },
  render: ({ targets, shells }) => [...targets.map(line), `shells: ${shells.join(', ') || 'none found'}`].join('\n'),
});

/** The summary tells address and user, the first word of the target its kind. */
function line({ target, summary, isPattern, inUseBy, terminals }: z.output<typeof Target>): string {
  const facts = [
    target,
    summary,
    ...(isPattern === true ? ['fill in what it names'] : []),
    ...(terminals === 0 ? [] : [`${terminals} ${terminals === 1 ? 'terminal' : 'terminals'} open`]),
    ...(inUseBy === undefined ? [] : [`in use by ${inUseBy}`]),
  ];
  return facts.join('  ');
}
