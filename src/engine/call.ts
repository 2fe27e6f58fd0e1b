import type { z } from 'zod';
import { FairleadError } from '../contract/errors.ts';
import type { Engine } from './engine.ts';
import { pass } from './gate.ts';
import { type Access, type Operation, operationId } from './operation.ts';

export type Origin = 'mcp' | 'rpc' | 'http' | 'cli';

/** Who asks, and through which door. */
export interface Caller {
  readonly name: string;
  readonly origin: Origin;
  readonly may: (access: Access) => boolean;
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
export async function call<In extends z.ZodType, Out extends z.ZodType>(
  op: Operation<In, Out>,
  raw: unknown,
  context: CallContext,
): Promise<z.output<Out>> {
  const { engine, caller, signal } = context;
  const started = engine.clock.monotonic();
  const operation = operationId(op);
  let error: FairleadError | undefined;
  try {
    const parsed = op.input.safeParse(raw);
    if (!parsed.success) throw new FairleadError('invalid_input', explain(parsed.error));
    const input = parsed.data;
    await pass(engine.gate, { operation, access: op.access, input, caller }, signal);
    return await op.run({ input, engine, caller, signal, progress: context.progress ?? ignore });
  } catch (thrown) {
    error = toFairleadError(thrown, signal);
    throw error;
  } finally {
    engine.audit.add({
      at: new Date(engine.clock.now()).toISOString(),
      operation,
      access: op.access,
      caller: caller.name,
      origin: caller.origin,
      terminal: terminalOf(raw),
      allowed: error?.code !== 'not_permitted' && error?.code !== 'needs_approval',
      error: error?.code,
      durationMs: Math.round(engine.clock.monotonic() - started),
    });
  }
}

const ignore = (): void => {};

/** `field: problem` of the first fault: one line a model can act on, not a validator's dump. */
function explain(error: z.ZodError): string {
  const issue = error.issues[0];
  if (!issue) return 'The arguments are not valid.';
  const field = issue.path.map(String).join('.');
  const rest = error.issues.length - 1;
  const more = rest > 0 ? ` (and ${rest} more ${rest === 1 ? 'problem' : 'problems'})` : '';
  return `${field === '' ? 'arguments' : field}: ${plain(issue)}${more}`;
}

function plain(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type' && issue.message.endsWith('received undefined')) {
    return issue.expected === 'nonoptional' ? 'is required' : `is required (${issue.expected})`;
  }
  return issue.message.replaceAll('\n', ' ');
}

function toFairleadError(thrown: unknown, signal: AbortSignal): FairleadError {
  if (thrown instanceof FairleadError) return thrown;
  if (signal.aborted) return new FairleadError('cancelled', 'The call was cancelled.', { cause: thrown });
  return new FairleadError('internal', 'Something went wrong inside Fairlead; the terminals are unharmed.', {
    hint: 'Try once more; if it happens again, report it with the log of the server.',
    cause: thrown,
  });
}

function terminalOf(raw: unknown): string | undefined {
  if (typeof raw !== 'object' || raw === null) return undefined;
  const ref = (raw as Record<string, unknown>)['sessionId'] ?? (raw as Record<string, unknown>)['terminal'];
  return typeof ref === 'string' || typeof ref === 'number' ? String(ref).slice(0, 64) : undefined;
}
