import type { Block } from '../terminal/blocks.ts';
import type { Size } from '../terminal/channel.ts';
import type { OutputLog } from '../terminal/output-log.ts';
import { renderText } from '../screen/render-text.ts';

/**
 * The command of a block whose shell reports it late or never: the text between prompt and output, as displayed. The
 * prompt is rendered with it, so that lines wrap as they did.
 */
export function echoedCommand(block: Block, log: OutputLog, size: Size): string | undefined {
  const { promptFrom, commandFrom, outputFrom } = block;
  if (commandFrom === undefined) return undefined;
  const from = promptFrom ?? commandFrom;
  const whole = log.read(from, outputFrom);
  if (whole.missed > 0) return undefined;
  const prompt = renderText(log.read(from, commandFrom).bytes, size);
  const text = renderText(whole.bytes, size);
  if (!text.startsWith(prompt)) return undefined;
  return text.slice(prompt.length).trim() || undefined;
}
