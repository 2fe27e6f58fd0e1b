import type { z } from 'zod';
import type { Engine } from './engine.ts';
import type { Operation } from './operation.ts';

export type Origin = 'mcp' | 'rpc' | 'http' | 'cli';

/** Who asks, and through which door. */
export interface Caller {
  readonly name: string;
  readonly origin: Origin;
  readonly may: (access: Operation['access']) => boolean;
}

export interface Call<Input> {
  readonly input: Input;
  readonly engine: Engine;
  readonly caller: Caller;
  /** Aborted when the caller hangs up. Stops the waiting, never the terminal. */
  readonly signal: AbortSignal;
  /** Tells a waiting caller how far it is. Cheap when nobody asked for it. */
  readonly progress: (message: string) => void;
}

export interface CallContext {
  readonly engine: Engine;
  readonly caller: Caller;
  readonly signal: AbortSignal;
  readonly progress?: (message: string) => void;
}

/** Every face ends here. Resolves with output that fits `op.output`; rejects only with FairleadError. */
export declare function call<In extends z.ZodType, Out extends z.ZodType>(
  op: Operation<In, Out>,
  raw: unknown,
  context: CallContext,
): Promise<z.output<Out>>;
