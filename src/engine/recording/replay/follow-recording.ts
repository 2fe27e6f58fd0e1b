import { type FSWatcher, watch } from 'node:fs';
import { deferred } from '../../../lib/deferred.ts';
import type { Emitter } from '../../../lib/emitter.ts';
import { onAbort } from '../../../system/on-abort.ts';
import type { Size } from '../../terminal/channel.ts';
import type { CastEvent, CastPlace } from '../cast/cast-reader.ts';
import { EventMask, type MaskedEvent } from '../cast/event-mask.ts';
import { applyEvent, blankScreen } from '../keyframes/keyframer.ts';
import { type Keyframe, placeBehind } from '../keyframes/keyframe.ts';
import type { Redactor } from '../../redaction/redactor.ts';

interface Followable {
  readonly path: string;
  /** Tells that recordings have begun or ended. */
  readonly ends: readonly Pick<Emitter<string>, 'on'>[];
  readonly redactor: Redactor;
  /** Its newest keyframe. */
  readonly key: Keyframe;
  /** How it is now: its file has another name at the end. Asked when the file has changed. */
  readonly look: () => Promise<FollowedFile>;
}

interface FollowedFile {
  /** It grows no more. */
  readonly isOver: boolean;
  /** The events behind a place, up to the last whole one. */
  readonly events: (from: CastPlace) => AsyncIterable<CastEvent>;
}

/** First the screen as it is at the end, then what is printed behind it. */
export interface FollowedPart {
  /** Seconds, as the recording plays: it is known up to here. */
  readonly t: number;
  readonly screen?: { readonly size: Size; readonly drawn: string };
  readonly events: readonly MaskedEvent[];
  readonly isOver: boolean;
}

/** So often in a row a file may be gone from under its name. */
const mostMisses = 5;

/** Plays a recording while it is made. A line that has not ended is shown as far as it is written; what completes a secret is masked. */
export async function* followRecording(
  { path, ends, redactor, key, look }: Followable,
  signal: AbortSignal,
): AsyncGenerator<FollowedPart, void, undefined> {
  const mask = new EventMask(redactor, key.size);
  let place = placeBehind(key);
  let { skip = 0 } = key;
  const read = async ({ isOver, events }: FollowedFile): Promise<MaskedEvent[]> => {
    const all: MaskedEvent[] = [];
    for await (const { atMs, code, data, end } of events(place)) {
      signal.throwIfAborted();
      const rest = code === 'o' ? data.slice(skip) : data;
      skip = 0;
      place = { pos: end, atMs };
      all.push(...mask.push({ atMs, code, data: rest }));
    }
    all.push(...(isOver ? mask.end() : mask.flush()));
    return all;
  };
  using changes = new FileChanges(path, ends, signal);
  const screen = blankScreen(key);
  try {
    for (const event of await read({ ...(await look()), isOver: false })) applyEvent(screen, event);
    const drawn = { size: screen.size, drawn: screen.snapshot() };
    yield { t: place.atMs / 1000, screen: drawn, events: [], isOver: false };
  } finally {
    screen[Symbol.dispose]();
  }
  let misses = 0;
  for (;;) {
    let file: FollowedFile;
    let events: MaskedEvent[];
    try {
      file = await look();
      events = await read(file);
    } catch (error) {
      // At its end a recording gets another name, perhaps between the look and the reading.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || ++misses > mostMisses) throw error;
      continue;
    }
    misses = 0;
    if (events.length > 0 || file.isOver) yield { t: place.atMs / 1000, events, isOver: file.isOver };
    if (file.isOver) return;
    await changes.next();
    signal.throwIfAborted();
  }
}

/** Tells of changes of a file, and of recordings that end: that need not change their file. Those that come together are one. */
class FileChanges implements Disposable {
  readonly #watcher: FSWatcher;
  readonly #others: readonly Disposable[];
  #changed = false;
  #wake = (): void => {};

  constructor(path: string, ends: Followable['ends'], signal: AbortSignal) {
    const note = (): void => {
      this.#changed = true;
      this.#wake();
    };
    this.#watcher = watch(path, { persistent: false }, note).on('error', note);
    this.#others = [onAbort(signal, note), ...ends.map((end) => end.on(note))];
  }

  async next(): Promise<void> {
    const { promise, resolve } = deferred<void>();
    this.#wake = resolve;
    if (!this.#changed) await promise;
    this.#changed = false;
  }

  [Symbol.dispose](): void {
    this.#watcher.close();
    for (const other of this.#others) other[Symbol.dispose]();
  }
}
