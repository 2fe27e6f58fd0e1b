import type { Size } from '../../terminal/channel.ts';
import { type CastReading, parseSize } from '../cast/cast-reader.ts';

/** A screen that output is fed to. */
interface FrameScreen<Picture> {
  feed(text: string): void;
  resize(size: Size): void;
  /** What it shows now, unchanged by what is fed later. */
  picture(): Picture;
}

interface RecordedFrame<Picture> {
  readonly picture: Picture;
  readonly atMs: number;
  /** How long it stands. */
  readonly durationMs: number;
}

interface FrameOptions {
  /** At most so many pictures a second (15). */
  readonly fps?: number;
  /** No picture stands longer than so many seconds (2). */
  readonly idle?: number;
  readonly speed?: number;
  /** The film ends there (3,000): a picture of a day in a terminal fits no GIF. */
  readonly maxFrames?: number;
  /** How long the last picture stands, in ms (2,000). */
  readonly lastMs?: number;
}

/** The pictures of a cast for an animation: one per moment at which the screen changed, joined up to the frame rate. */
export async function* frames<Picture>(
  cast: CastReading,
  screen: FrameScreen<Picture>,
  { fps = 15, idle = 2, speed = 1, maxFrames = 3_000, lastMs = 2_000 }: FrameOptions = {},
): AsyncGenerator<RecordedFrame<Picture>, void, undefined> {
  const stepMs = 1000 / fps;
  let previousMs = 0;
  let nowMs = 0;
  let shownMs = 0;
  let pending = false;
  let count = 0;
  for await (const event of cast.events) {
    const gap = Math.max(0, event.atMs - previousMs) / speed;
    previousMs = Math.max(previousMs, event.atMs);
    nowMs += idle > 0 ? Math.min(gap, idle * 1000) : gap;
    const size = event.code === 'r' ? parseSize(event.data) : undefined;
    if (event.code !== 'o' && size === undefined) continue;
    if (pending && nowMs - shownMs >= stepMs) {
      if (++count >= maxFrames) break;
      yield { picture: screen.picture(), atMs: shownMs, durationMs: nowMs - shownMs };
      shownMs = nowMs;
    }
    if (size === undefined) screen.feed(event.data);
    else screen.resize(size);
    if (!pending) shownMs = nowMs;
    pending = true;
  }
  if (pending) yield { picture: screen.picture(), atMs: shownMs, durationMs: lastMs };
}
