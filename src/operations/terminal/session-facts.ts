import type { Caller } from '../../engine/call/call.ts';
import type { Engine } from '../../engine/engine.ts';
import { PlainFacts } from '../../engine/reading/plain-facts.ts';
import { recordingOf } from '../../engine/recording/recording-of.ts';
import type { Terminal } from '../../engine/terminal/terminal.ts';

/** A session as this book tells of it. */
export function sessionFacts(terminal: Terminal, engine: Engine, caller: Caller, plain = new PlainFacts()) {
  const { id, identity, place, process, screen, usage } = terminal;
  return {
    sessionId: id,
    shell: plain.line(identity.program),
    ...screen.size,
    createdAt: new Date(identity.createdAt).toISOString(),
    lastActivityAt: new Date(usage.lastAt).toISOString(),
    isDefault: engine.sessions.isDefault(terminal, caller),
    ...(identity.name === undefined ? {} : { name: plain.line(identity.name) }),
    ...(process === undefined ? {} : { pid: process.pid }),
    ...(place.cwd === undefined ? {} : { cwd: plain.line(place.cwd) }),
    rpcId: identity.number,
    ...plain.flags,
  };
}

/** The same for a list, with how the session goes. */
export function listedSession(terminal: Terminal, engine: Engine, caller: Caller) {
  const { ended } = terminal;
  const plain = new PlainFacts();
  const front = ended ? undefined : terminal.process?.foreground()?.name;
  const foreground = front === undefined ? {} : { foreground: plain.line(front) };
  const { clock } = engine;
  const recordingId = recordingOf(terminal.id, engine);
  return {
    ...sessionFacts(terminal, engine, caller, plain),
    status: ended ? ('exited' as const) : ('running' as const),
    ...(ended ? { exitCode: ended.by === 'exit' ? ended.code : null } : {}),
    ...(ended?.by === 'signal' ? { signal: ended.signal } : {}),
    idleSeconds: Math.max(0, Math.round((clock.now() - terminal.usage.lastAt) / 1000)),
    ...foreground,
    ...(recordingId === undefined ? {} : { recordingId }),
  };
}
