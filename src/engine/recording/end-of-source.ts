import { constants } from 'node:os';
import type { Ended } from '../terminal/channel.ts';
import type { RecordingSource } from './source.ts';

/** As shells tell it: of a signal, 128 and its number. */
export function exitStatus(ended: Exclude<Ended, { by: 'lost' }>): number {
  if (ended.by === 'exit') return ended.code;
  const number = (constants.signals as Readonly<Record<string, number>>)[`SIG${ended.signal}`];
  return 128 + (number ?? 0);
}

/** A promise keeps its callbacks; this releases the listener at least. */
export function whenEnded(source: RecordingSource, listener: (ended: Ended) => void): Disposable {
  let current: ((ended: Ended) => void) | undefined = listener;
  source.ended.then(
    (ended) => current?.(ended),
    () => {},
  );
  return { [Symbol.dispose]: () => void (current = undefined) };
}
