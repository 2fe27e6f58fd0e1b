import { onAbort } from '../../system/on-abort.ts';
import { type CallFilter, type CallLog, fitsFilter } from './call-log.ts';
import type { CallRow } from './shapes.ts';

export type CallNews =
  | { readonly kind: 'head'; readonly calls: CallRow[] }
  | { readonly kind: 'call'; readonly call: CallRow };

/** Changed rows that wait for a reader, the newest state of each. At the limit the reader gets the head again. */
const mostPending = 500;

/** The newest rows, then each row again when it has changed. */
export async function* watchCalls(
  log: CallLog,
  filter: CallFilter,
  head: number,
  signal: AbortSignal,
): AsyncGenerator<CallNews, void, void> {
  const pending = new Map<string, CallRow>();
  let isBehind = true;
  let wake = (): void => {};
  using _changes = log.changed.on((row) => {
    if (isBehind || !fitsFilter(row, filter)) return;
    pending.set(row.id, row);
    if (pending.size > mostPending) {
      pending.clear();
      isBehind = true;
    }
    wake();
  });
  using _end = onAbort(signal, () => wake());
  while (!signal.aborted) {
    if (isBehind) {
      isBehind = false;
      yield {
        kind: 'head',
        calls: log
          .rows()
          .filter((row) => fitsFilter(row, filter))
          .slice(0, head),
      };
      continue;
    }
    const [next] = pending.values();
    if (next) {
      pending.delete(next.id);
      yield { kind: 'call', call: next };
    } else {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
}
