import type { Pause } from '../../../system/turns.ts';
import { visibleText } from '../../redaction/visible-text.ts';
import type { MaskedEvent } from '../cast/event-mask.ts';
import type { OutlineBlock } from './outline.ts';

/** A place in a recording where a text stands. */
export interface TextHit {
  /** Seconds, as the recording plays. */
  readonly t: number;
  readonly block?: number;
  readonly where: 'command' | 'output';
  /** The line, cut around the text. */
  readonly line: string;
}

const around = 80;
/** The text of one event can span lines: what has not ended is kept up to this length. */
const longestLine = 4_096;

/** Where a text stands in the commands and the output of a recording, in order; upper and lower case are the same. */
export async function findText(
  events: AsyncIterable<MaskedEvent>,
  { text, blocks, most }: { readonly text: string; readonly blocks: readonly OutlineBlock[]; readonly most: number },
  pause: Pause,
): Promise<{ readonly hits: TextHit[]; readonly more: boolean }> {
  const wanted = text.toLowerCase();
  const commands = blocks.filter(({ command }) => command?.toLowerCase().includes(wanted));
  const hits: TextHit[] = commands.map(({ t, n, command = '' }) => ({
    t,
    block: n,
    where: 'command',
    line: cut(command, wanted),
  }));
  const isCommand = (line: string, t: number): boolean =>
    commands.some((one) => Math.abs(one.t - t) < 60 && one.command !== undefined && line.includes(one.command));
  let open = '';
  let more = hits.length > most;
  const look = (line: string, t: number): void => {
    if (!line.toLowerCase().includes(wanted)) return;
    const block = blocks.find((one) => one.t <= t && (one.endT ?? Number.POSITIVE_INFINITY) >= t);
    // The line as it was typed at the prompt is the command once more.
    if (isCommand(line, t)) return;
    hits.push({ t, ...(block && { block: block.n }), where: 'output', line: cut(line, wanted) });
  };
  for await (const { atMs, code, data } of events) {
    await pause();
    if (code !== 'o') continue;
    if (hits.length > most) {
      more = true;
      break;
    }
    const lines = (open + visibleText(data, 0, true).text).split(/[\r\n]+/);
    open = (lines.pop() ?? '').slice(-longestLine);
    for (const line of lines) look(line, atMs / 1000);
    // What a prompt or a full-screen program draws ends with no line end.
    if (open.toLowerCase().includes(wanted)) {
      look(open, atMs / 1000);
      open = '';
    }
  }
  return { hits: hits.toSorted((a, b) => a.t - b.t).slice(0, most), more: more || hits.length > most };
}

function cut(line: string, wanted: string): string {
  const at = Math.max(0, line.toLowerCase().indexOf(wanted));
  const [from, to] = [Math.max(0, at - around), Math.min(line.length, at + wanted.length + around)];
  return `${from > 0 ? '…' : ''}${line.slice(from, to).trim()}${to < line.length ? '…' : ''}`;
}
