import type { ServerContext } from '@modelcontextprotocol/server';
import type { Amount, ReportProgress } from '../../engine/call/call.ts';

const maxInFlight = 64;
/** The protocol wants every report to be further than the one before, even without progress. */
const hair = 2 ** -10;

export interface Progress {
  readonly report: ReportProgress;
  /** Resolves when every report is on its way, so that none comes after the answer. */
  readonly settled: () => Promise<void>;
}

const silent: Progress = { report: () => {}, settled: () => Promise.resolve() };

/** Notifications for a client that asked for them. While 64 wait to be written, further reports are left out. */
export function progressOf({ mcpReq }: ServerContext): Progress {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return silent;
  const inFlight = new Set<Promise<void>>();
  let progress: number | undefined;
  return {
    report(message, amount) {
      progress = further(progress, amount);
      if (inFlight.size >= maxInFlight || mcpReq.signal.aborted) return;
      // A client that hung up is told nothing more; its call ends through the signal.
      const sending: Promise<void> = mcpReq
        .notify({
          method: 'notifications/progress',
          params: { progressToken, progress, message, ...(amount?.total !== undefined && { total: amount.total }) },
        })
        .catch(() => {})
        .finally(() => inFlight.delete(sending));
      inFlight.add(sending);
    },
    settled: async () => void (await Promise.all(inFlight)),
  };
}

function further(last: number | undefined, amount: Amount | undefined): number {
  if (amount === undefined) return Math.floor(last ?? 0) + 1;
  return last === undefined ? amount.done : Math.max(amount.done, last + hair);
}
