/** An end that takes longer than this is cut short: nobody waits for a hung step (R-TERM-140). */
const endLimitMs = 1900;

/**
 * Runs `serve` until it is done or a signal asks for the end, then `close`. Resolves with the exit code: 0 after a signal
 * or an orderly end, 1 after an error nobody caught.
 */
export async function untilEnded(parts: {
  readonly serve: (signal: AbortSignal) => Promise<void>;
  readonly close: () => Promise<void>;
  readonly log: (message: string) => void;
}): Promise<number> {
  const ending = new AbortController();
  let code = 0;
  const end = (): void => ending.abort();
  const crash = (error: unknown): void => {
    parts.log(`An error nobody caught: ${error instanceof Error ? error.stack : String(error)}`);
    code = 1;
    end();
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, end);
  process.on('uncaughtException', crash);
  process.on('unhandledRejection', crash);
  // The limit runs from the moment the end begins, whatever hangs.
  ending.signal.addEventListener('abort', () => setTimeout(() => process.exit(code), endLimitMs).unref(), {
    once: true,
  });
  try {
    await parts.serve(ending.signal);
  } catch (error) {
    crash(error);
  }
  end();
  try {
    await parts.close();
  } catch (error) {
    parts.log(`The end was not orderly: ${error instanceof Error ? error.message : String(error)}`);
  }
  return code;
}
