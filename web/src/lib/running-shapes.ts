import type { z } from 'zod';
import type { list, stop } from '../../../src/operations/person/stop.ts';

/** Commands of agents that run, and what became of those that a person stopped. */
export type RunningCommand = z.output<typeof list.output>['commands'][number];
export type StoppedCommand = z.output<typeof stop.output>['commands'][number];
