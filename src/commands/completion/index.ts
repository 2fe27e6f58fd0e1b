import { UsageError } from '../../faces/cli/args.ts';
import type { Invocation } from '../command.ts';
import { bash, zsh } from './bash-zsh.ts';
import { fish } from './fish.ts';
import { completionTable } from './table.ts';

const shells = { bash, zsh, fish };

/** `fairlead completion bash|zsh|fish`: a script made from the same tables as help. */
export async function completion({ words, stdout }: Invocation): Promise<number> {
  const [shell, ...more] = words;
  const write = Object.entries(shells).find(([name]) => name === shell)?.[1];
  if (!write || more.length > 0) throw new UsageError(`Name a shell: ${Object.keys(shells).join(', ')}.`);
  stdout.write(write(completionTable()));
  return 0;
}
