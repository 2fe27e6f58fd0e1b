import { places } from '../../config.ts';
import { call } from '../../engine/call/call.ts';
import { callStream } from '../../engine/call/call-stream.ts';
import { localPerson } from '../../engine/call/principal.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Invocation } from '../command.ts';

/**
 * Serves this process on a local socket until the engine ends. Loaded and opened after everything
 * a client waits for; a server that cannot open it logs that and keeps running.
 */
export async function serveLocally(
  { settings, env }: Invocation,
  engine: Engine,
  log: (message: string) => void,
): Promise<void> {
  if (process.platform === 'win32') return;
  try {
    const [{ SocketServer }, { socketPath, socketsOf }, ...books] = await Promise.all([
      import('../../faces/socket/server.ts'),
      import('../../faces/socket/directory.ts'),
      import('../../operations/person/index.ts').then(({ personBook }) => personBook),
      import('../../operations/settings/index.ts').then(({ settingsBook }) => settingsBook),
      import('../../operations/streams/index.ts').then(({ resourceBook }) => resourceBook),
      import('../../operations/streams/index.ts').then(({ subBook }) => subBook),
    ]);
    const path = socketPath(socketsOf(places(settings, env).home), process.pid);
    const server = await SocketServer.listen(path, {
      books,
      caller: localPerson,
      call: (op, raw, context) => call(op, raw, { ...context, engine }),
      stream: (op, raw, context) => callStream(op, raw, { ...context, engine }),
    });
    const end = (): void => engine.background(server[Symbol.asyncDispose]());
    if (engine.closing.aborted) end();
    else engine.closing.addEventListener('abort', end, { once: true });
  } catch (error) {
    if (engine.closing.aborted) return;
    const reason = error instanceof Error ? error.message : String(error);
    log(`\`fairlead answer\` cannot reach this process: ${reason}`);
  }
}
