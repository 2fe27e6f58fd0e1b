import type { Engine } from '../../../../engine/engine.ts';
import { abortable } from '../../../../system/abortable.ts';
import type { Terminal } from '../../../../engine/terminal/terminal.ts';
import { EnvExchange } from '../../shell-integration/index.ts';
import type { KeeperClient, ListedTerminal } from './keeper-client.ts';
import type { KeeperChannel } from './keeper-channel.ts';

/** Resumes everything the keeper holds as terminals of the engine: same ids, screens, offsets, exit codes. */
export async function resumeTerminals(engine: Engine, keeper: KeeperClient, signal: AbortSignal): Promise<Terminal[]> {
  const kept = await keeper.find(signal);
  // All at once, so that the keeper sends their output side by side.
  const taken = kept.map((one) => [one, keeper.take(one, true)] as const);
  const terminals: Terminal[] = [];
  // In the order they were opened.
  for (const [one, channel] of taken) terminals.push(await resume(engine, one, channel, signal));
  return terminals;
}

async function resume(
  engine: Engine,
  one: ListedTerminal,
  channel: KeeperChannel,
  signal: AbortSignal,
): Promise<Terminal> {
  const { id, cols, rows, folder, about, endedAt, seen } = one.listed;
  const log = await abortable(channel.replayed, signal);
  const environment = folder === undefined ? undefined : new EnvExchange(folder, about?.['kind']);
  return await engine.resume({
    id,
    size: { cols, rows },
    opened: { channel, environment },
    log,
    facts: one.meta,
    state: one.snapshot?.bytes,
    seen,
    endedAt,
  });
}
