import type { z } from 'zod';
import { deferred } from '../../lib/deferred.ts';
import { abortable } from '../../system/abortable.ts';
import type { AuditNote } from './audit/note.ts';
import { accounted, type CallContext, mayReadAll, terminalOf } from './call.ts';
import { type AnyStream, operationId, type StreamOperation } from './operation.ts';
import { parseInput } from './parse-input.ts';

/** `callStream()` with the engine already chosen. */
export type CallStream = (op: AnyStream, raw: unknown, context: StreamContext) => AsyncGenerator<unknown, void, void>;

export type StreamContext = Pick<CallContext, 'caller' | 'signal'>;

/**
 * `call()` for streams: the same checks before the first item, and two entries in the audit trail, one when it begins and one when it
 * ends. Finishes without an error when the caller's signal is aborted, when the consumer returns early and when the engine closes;
 * throws only FairleadError.
 */
export async function* callStream<In extends z.ZodType, Item extends z.ZodType>(
  op: StreamOperation<In, Item>,
  raw: unknown,
  context: StreamContext & Pick<CallContext, 'engine'>,
): AsyncGenerator<z.output<Item>, void, void> {
  const { engine, caller } = context;
  const what = { operation: operationId(op), access: op.access, terminal: terminalOf(raw) };
  const { input, about } = await accounted(what, context, async (admit, note) => {
    const parsed = parseInput(op, raw);
    const facts = op.about?.(parsed) ?? {};
    note(facts);
    engine.agents.admitStream(op, caller);
    await admit(parsed);
    note({ detail: joined(facts, 'began') });
    return { input: parsed, about: facts };
  });
  const seesAll = mayReadAll(caller, input);
  const leaving = new AbortController();
  const signal = AbortSignal.any([context.signal, engine.closing, leaving.signal]);
  const over = deferred();
  const ended = accounted(what, context, async (_, note) => {
    note({ ...about, detail: joined(about, 'ended') });
    await over.promise;
  });
  // Awaited at the end; until then a rejection is handled here.
  ended.catch(() => {});
  try {
    const items = op.run({ input, engine, caller, signal })[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await abortable(items.next(), signal);
        if (next.done === true) break;
        yield seesAll ? next.value : engine.withoutKnown(next.value);
      }
    } finally {
      leaving.abort();
      // A generator that waits learns of the end by its signal: it is not waited for here.
      items.return?.().catch(() => {});
    }
  } catch (thrown) {
    if (context.signal.aborted || engine.closing.aborted) over.resolve();
    else over.reject(thrown);
  } finally {
    over.resolve();
    await ended;
  }
}

const joined = ({ detail }: AuditNote, step: string): string => (detail === undefined ? step : `${detail} (${step})`);
