import { z } from 'zod';
import { operation } from '../../engine/call/operation.ts';

/** Namespaces that the reference lists under another name. */
const umbrellas: Readonly<Record<string, string>> = {
  signal: 'exec',
  policy: 'governance',
  server: 'governance',
  selftest: 'governance',
};

/** Methods of ours that the reference does not have. */
const extensions = new Set(['workspace.delete', 'policy.get']);

/** `server.capabilities`, straight from the table that dispatches the methods. */
export const capabilitiesOf = (methods: () => readonly string[]) =>
  operation({
    title: 'Capabilities',
    summary: 'Every method, by namespace.',
    access: 'observe',
    input: z.object({}),
    output: z.record(z.string(), z.array(z.string())),
    run: async () => grouped(methods()),
  });

function grouped(methods: readonly string[]): Record<string, string[]> {
  const groups: Record<string, string[]> = {};
  for (const method of methods) {
    const [noun = ''] = method.split('.', 1);
    (groups[umbrellas[noun] ?? noun] ??= []).push(method);
  }
  const ours = methods.filter((name) => extensions.has(name));
  return ours.length === 0 ? groups : { ...groups, extension: ours };
}
