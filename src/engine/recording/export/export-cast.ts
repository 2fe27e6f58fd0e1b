import type { Size } from '../../terminal/channel.ts';
import type { CastReading } from '../cast/cast-reader.ts';
import { exportMarkdown, exportText, type TextScreen } from './export.ts';
import { frames } from './frames.ts';
import type { RecordingMetadata } from '../metadata.ts';
import type { Grid } from '../../screen/grid.ts';
import { Screen } from '../../screen/screen.ts';
import { systemClock } from '../../../system/clock.ts';

export const formats: readonly string[] = ['gif', 'svg', 'txt', 'md'];

export interface ExportOptions {
  readonly metadata: Partial<RecordingMetadata>;
  readonly theme: string | undefined;
  readonly speed: number;
  readonly progress: (frames: number) => void;
  readonly signal: AbortSignal;
}

/** A recording in another format, in pieces. */
export async function* exportCast(
  cast: CastReading,
  format: string,
  options: ExportOptions,
): AsyncGenerator<Uint8Array> {
  if (format === 'txt') yield Buffer.from(await exportText(cast, openScreen));
  else if (format === 'md') yield Buffer.from(await exportMarkdown(cast, openScreen, options.metadata));
  else if (format === 'svg') yield* film(cast, options);
  else yield* animate(cast, options);
}

async function* film(cast: CastReading, options: ExportOptions): AsyncGenerator<Uint8Array> {
  const { theme, speed, progress, signal, metadata } = options;
  const { encodeSvg } = await import('../../picture/svg/svg.ts');
  const screen = openScreen(cast.info.size);
  async function* counted() {
    let count = 0;
    for await (const frame of frames(cast, screen, { speed, maxFrames: 1_500 })) {
      progress(++count);
      signal.throwIfAborted();
      yield frame;
    }
  }
  yield* encodeSvg(counted(), { theme, title: metadata.title ?? cast.info.title });
}

async function* animate(
  cast: CastReading,
  { theme, speed, progress, signal }: ExportOptions,
): AsyncGenerator<Uint8Array> {
  const { encodeGif } = await import('../../picture/gif.ts');
  const { drawPixels } = await import('../../picture/raster.ts');
  const screen = openScreen(cast.info.size);
  async function* drawn() {
    let count = 0;
    for await (const { picture, durationMs } of frames(cast, screen, { speed })) {
      progress(++count);
      yield { pixels: await drawPixels(picture, { theme, scale: 1 }, signal), delayMs: durationMs };
    }
  }
  yield* encodeGif(drawn(), {}, signal);
}

function openScreen(size: Size): TextScreen & { picture(): Grid } {
  const screen = new Screen({ size, scrollback: 100_000, clock: systemClock });
  return {
    feed: (text) => screen.feed(Buffer.from(text)),
    resize: (next) => screen.resize(next),
    text: () => screen.text({ scope: 'all', wrap: 'join' }),
    picture: () => screen.grid(),
  };
}
