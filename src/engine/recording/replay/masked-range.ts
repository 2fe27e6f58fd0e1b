import type { Redactor } from '../../redaction/redactor.ts';
import type { CastEvent, CastPlace } from '../cast/cast-reader.ts';
import { EventMask, type MaskedEvent } from '../cast/event-mask.ts';
import { type Keyframe, placeBehind } from '../keyframes/keyframe.ts';

interface MaskedCast {
  /** The events behind a place. */
  readonly events: (from: CastPlace) => AsyncIterable<CastEvent>;
  readonly redactor: Redactor;
  /** The file still grows: a line that is not complete yet is not told. */
  readonly growing: boolean;
}

/**
 * The events behind a keyframe up to a moment, masked as if the cast were played from its start. Reads as far behind that moment as
 * the mask needs to see the end of a line.
 */
export async function* maskedEvents(
  { events, redactor, growing }: MaskedCast,
  from: Keyframe,
  toMs: number,
): AsyncGenerator<MaskedEvent, void, undefined> {
  const mask = new EventMask(redactor, from.size);
  let { skip = 0 } = from;
  let lastMs = 0;
  for await (const event of events(placeBehind(from))) {
    const next = inOrder(event, skip, lastMs);
    skip = 0;
    lastMs = next.atMs;
    if (lastMs > toMs && mask.isFresh) return;
    for (const masked of mask.push(next)) {
      if (masked.atMs > toMs) return;
      yield masked;
    }
  }
  if (growing) return;
  for (const masked of mask.end()) if (masked.atMs <= toMs) yield masked;
}

/** Casts from elsewhere may go back in time; players then wait for nothing. */
function inOrder({ atMs, code, data }: CastEvent, skip: number, lastMs: number): MaskedEvent {
  return { atMs: Math.max(atMs, lastMs), code, data: code === 'o' ? data.slice(skip) : data };
}
