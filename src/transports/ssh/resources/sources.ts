import type { Engine } from '../../../engine/engine.ts';
import type { ResourceSource } from '../../../streams/resource.ts';
import { anyTerminalSource } from '../../../streams/terminal-source.ts';
import { ssh } from '../index.ts';
import { commandSource } from './command-source.ts';
import { sessionSource } from './session-source.ts';
import { shellSource } from './shell-source.ts';

/** Everything of an engine that can be followed. A thing with two names is listed by the first of them. */
export function resourceSources(engine: Engine): readonly ResourceSource[] {
  const service = engine.service(ssh);
  return [
    shellSource(engine, service),
    commandSource(service.commands),
    sessionSource(service.sessions, engine.clock),
    anyTerminalSource(engine),
  ];
}
