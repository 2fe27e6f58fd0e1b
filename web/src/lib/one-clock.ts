import type { CallShown } from './shapes.ts';

/** The row that a moment of a recording belongs to: the last call that had begun by then. */
export function rowAt(rows: readonly CallShown[], recording: string, t: number): CallShown | undefined {
  let found: CallShown | undefined;
  for (const row of rows) {
    if (row.recording?.id !== recording || row.recording.t > t) continue;
    if (!found?.recording || row.recording.t >= found.recording.t) found = row;
  }
  return found;
}
