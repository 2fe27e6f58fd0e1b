import type { Caller } from '../../engine/call/call.ts';
import type { Engine } from '../../engine/engine.ts';
import { leakWords } from '../../streams/leak-watch.ts';
import { streams } from '../../streams/streams.ts';

/** Shells and commands of the caller that no client follows and nothing will end, in words. */
export const leaksOf = (engine: Engine, caller: Caller): string[] =>
  engine.service(streams).warnings(caller).map(leakWords);
