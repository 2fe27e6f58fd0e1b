import { z } from 'zod';
import { operation } from '../../engine/call/operation.ts';

export const list = operation({
  mcpName: 'targets',
  title: 'List targets',
  summary: 'What terminal_open can open.',
  access: 'observe',
  input: z.strictObject({}),
  output: z.object({
    targets: z.array(z.object({ target: z.string(), summary: z.string() })),
    shells: z.array(z.string()),
  }),
  run: async ({ engine }) => engine.describeTargets(),
  render: ({ targets, shells }) =>
    [
      ...targets.map(({ target, summary }) => `${target}  ${summary}`),
      `shells: ${shells.join(', ') || 'none found'}`,
    ].join('\n'),
});
