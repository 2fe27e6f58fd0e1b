import { FairleadError } from '../../contract/errors.ts';
import type { Size } from '../../engine/terminal/channel.ts';
import type { CastReading } from '../../engine/recording/cast/cast-reader.ts';
import { exportMarkdown, exportText, type TextScreen } from '../../engine/recording/export/export.ts';
import { frames } from '../../engine/recording/export/frames.ts';
import type { RecordingMetadata } from '../../engine/recording/metadata.ts';
import type { Grid } from '../../engine/screen/grid.ts';
import { Screen } from '../../engine/screen/screen.ts';
import { systemClock } from '../../system/clock.ts';

export const formats: readonly string[] = ['gif', 'txt', 'md'];

interface ExportOptions {
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
  else yield* animate(cast, options);
}

async function* animate(
  cast: CastReading,
  { theme, speed, progress, signal }: ExportOptions,
): AsyncGenerator<Uint8Array> {
  if (!(speed > 0)) throw new FairleadError('invalid_input', '--speed: must be a number above 0');
  const { encodeGif } = await import('../../engine/picture/gif.ts');
  const { drawPixels } = await import('../../engine/picture/raster.ts');
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
