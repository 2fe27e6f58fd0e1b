import { FairleadError } from '../../contract/errors.ts';
import { EndLimit } from './end-limit.ts';

/**
 * Runs `serve` until it is done or a signal comes, then `close`. Resolves with the exit code: 0 after a signal
 * or an orderly end, 1 after an uncaught error. Rejects with the error that kept it from serving.
 */
export async function untilEnded(parts: {
  /** A server that ends by itself starts `limit` when its end begins. */
  readonly serve: (signal: AbortSignal, limit: EndLimit) => Promise<void>;
  /** Must finish within the limit. */
  readonly close: (limitMs: number) => Promise<void>;
  readonly log: (message: string) => void;
}): Promise<number> {
  const ending = new AbortController();
  let code = 0;
  const end = (): void => ending.abort();
  const crash = (error: unknown): void => {
    parts.log(`Uncaught error: ${error instanceof Error ? error.stack : String(error)}`);
    code = 1;
    end();
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, end);
  process.on('uncaughtException', crash);
  process.on('unhandledRejection', crash);
  // The limit runs from the moment the end begins, even if a step hangs.
  const limit = new EndLimit(() => {
    parts.log('Shutdown took too long and was cut short.');
    process.exit(code);
  });
  ending.signal.addEventListener('abort', () => limit.begin(), { once: true });
  let refused: FairleadError | undefined;
  try {
    await parts.serve(ending.signal, limit);
  } catch (error) {
    if (error instanceof FairleadError) refused = error;
    else crash(error);
  }
  end();
  try {
    await parts.close(limit.leftMs);
  } catch (error) {
    parts.log(`Shutdown failed: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (refused) throw refused;
  return code;
}
