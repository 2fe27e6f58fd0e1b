import { FairleadError } from '../../contract/errors.ts';
import { visible } from '../../contract/quote.ts';

/** A command whose call was cancelled and that runs on. */
export interface UnfinishedRun {
  readonly command: string;
  readonly runningMs: number;
}

/** A refusal because a program runs says so where it is that command. */
export function unfinishedInstead(error: unknown, run: UnfinishedRun | undefined): unknown {
  if (run === undefined || !(error instanceof FairleadError) || error.data?.['running'] === undefined) return error;
  return new FairleadError('conflict', unfinishedWords(run), {
    hint: 'Run without a command to wait for it, interrupt it with Ctrl+C, or open another terminal.',
    data: { ...error.data, ...run },
  });
}

export function unfinishedWords({ command, runningMs }: UnfinishedRun): string {
  const [line = ''] = command.split('\n');
  const shown = line.length > 60 ? `${line.slice(0, 60)}…` : line;
  const seconds = (runningMs / 1000).toFixed(1);
  return `\`${visible(shown)}\` still runs in this terminal, for ${seconds} s: the call that waited for it was cancelled.`;
}
