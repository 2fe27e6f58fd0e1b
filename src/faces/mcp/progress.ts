import type { ServerContext } from '@modelcontextprotocol/server';

const maxInFlight = 64;

export interface Progress {
  readonly report: (message: string) => void;
  /** Resolves when every report is on its way, so that none comes after the answer. */
  readonly settled: () => Promise<void>;
}

const silent: Progress = { report: () => {}, settled: () => Promise.resolve() };

/** Notifications for a client that asked for them. While 64 wait to be written, further reports are left out. */
export function progressOf({ mcpReq }: ServerContext): Progress {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return silent;
  const inFlight = new Set<Promise<void>>();
  let progress = 0;
  return {
    report(message) {
      progress += 1;
      if (inFlight.size >= maxInFlight || mcpReq.signal.aborted) return;
      // A client that hung up is told nothing more; its call ends through the signal.
      const sending: Promise<void> = mcpReq
        .notify({ method: 'notifications/progress', params: { progressToken, progress, message } })
        .catch(() => {})
        .finally(() => inFlight.delete(sending));
      inFlight.add(sending);
    },
    settled: async () => void (await Promise.all(inFlight)),
  };
}
