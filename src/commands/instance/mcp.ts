import { serveStdio } from '../../faces/mcp/stdio.ts';
import { places } from '../../config.ts';
import { localOwner } from '../../engine/call/principal.ts';
import { openStateRoot } from '../../engine/instances/state-root.ts';
import { hungUp } from '../../transports/local/pty/hung-up.ts';
import type { Invocation } from '../command.ts';
import { createInstance } from './instance.ts';
import { untilEnded } from './lifecycle.ts';
import { recoverLogs } from './recover-logs.ts';
import { serveLocally } from './local-socket.ts';

/** MCP on stdin and stdout. Only the protocol is written to stdout; everything else goes to stderr. */
export async function mcp(invocation: Invocation): Promise<number> {
  const { settings, stdin, stdout, stderr, env } = invocation;
  const log = (message: string): void => void stderr.write(`fairlead: ${message}\n`);
  openStateRoot(places(settings, env).home, { mustWrite: false });
  let opening: Promise<unknown> = Promise.resolve();
  const { engine, surface } = await createInstance(invocation, log, { ready: () => opening });
  let closing: Promise<void> | undefined;
  const code = await untilEnded({
    async serve(signal, limit) {
      // The handshake does not wait for it, the first call does, and reports a shell that cannot start.
      opening = engine.sessions.default(signal).catch((error: unknown) => {
        if (!engine.closing.aborted) log(message(error));
      });
      engine.background(recoverLogs(engine));
      engine.background(opening.then(() => serveLocally(invocation, engine, log)));
      engine.background(opening.then(() => engine.recordings.closeLeft()));
      await serveStdio(surface, {
        stdin,
        stdout,
        principal: localOwner,
        hungUp: () => hungUp(0),
        signal,
        onError: (error) => log(error.message),
        onInputEnd: () => limit.begin(),
        onFlow: () => limit.goOn(),
        // Terminals end while the last answers are still being written.
        onAnswered: () => {
          closing = engine.end(limit.leftMs);
        },
      });
      await opening;
    },
    close: (leftMs) => closing ?? engine.end(leftMs),
    log,
  });
  // Timers and half-open pipes must not keep a server alive whose client is gone.
  process.exit(code);
}

const message = (error: unknown): string => (error instanceof Error ? error.message : String(error));
