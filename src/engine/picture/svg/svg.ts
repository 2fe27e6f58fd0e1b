import type { Grid } from '../../screen/grid.ts';
import { paletteOf } from '../color.ts';
import { themeNamed } from '../themes.ts';
import { cellHeight, cellWidth, escapeXml, hex, rowOf } from './svg-row.ts';

interface SvgFrame {
  readonly picture: Grid;
  readonly durationMs: number;
}

interface SvgOptions {
  readonly theme?: string | undefined;
  /** What a browser shows for it. */
  readonly title?: string | undefined;
}

/** One moment of the film: which row stands where. */
interface Shot {
  readonly content: string;
  durationMs: number;
}

const fontSize = 14;
const margin = 12;
const fonts = "ui-monospace,'JetBrains Mono','DejaVu Sans Mono',Menlo,Consolas,'Liberation Mono',monospace";

/**
 * An animated SVG of a terminal, in pieces: text as text, no script, nothing loaded from elsewhere. The pictures lie side by side, and a
 * style sheet shows one after another. Rows that are shown often are drawn once. Viewers that want no motion see the last picture.
 */
export async function* encodeSvg(frames: AsyncIterable<SvgFrame>, options: SvgOptions): AsyncGenerator<Uint8Array> {
  const theme = themeNamed(options.theme);
  const palette = paletteOf(theme);
  const rows = new Map<string, number>();
  const shots: Shot[] = [];
  let [cols, lines] = [1, 1];
  for await (const { picture, durationMs } of frames) {
    cols = Math.max(cols, picture.cols);
    lines = Math.max(lines, picture.rows);
    const content = shotOf(picture, rows, (line) => rowOf(line, palette));
    const last = shots.at(-1);
    if (last?.content === content) last.durationMs += durationMs;
    else shots.push({ content, durationMs });
  }
  const [inner, height] = [cols * cellWidth, lines * cellHeight];
  const [width, outer] = [inner + 2 * margin, height + 2 * margin];
  const totalMs = shots.reduce((sum, { durationMs }) => sum + durationMs, 0);
  yield Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${round(width)}" height="${outer}" viewBox="0 0 ${round(width)} ${outer}" ` +
      `font-family="${fonts}" font-size="${fontSize}" role="img">` +
      `<title>${escapeXml(options.title ?? 'Terminal recording')}</title>` +
      `<style>text{white-space:pre;fill:${theme.foreground}}${motion(shots, inner, totalMs)}</style>` +
      `<rect width="100%" height="100%" rx="6" fill="${hex(palette.background)}"/><defs>`,
  );
  for (const [row, id] of rows) yield Buffer.from(`<g id="r${id}">${row}</g>`);
  yield Buffer.from(
    `</defs><svg x="${margin}" y="${margin}" width="${round(inner)}" height="${height}" overflow="hidden">` +
      `<g class="f" fill="${theme.cursor}">`,
  );
  for (const [index, { content }] of shots.entries()) {
    yield Buffer.from(`<g transform="translate(${round(index * inner)})">${content}</g>`);
  }
  yield Buffer.from('</g></svg></svg>\n');
}

function shotOf(
  { lines, cursor }: Grid,
  rows: Map<string, number>,
  draw: (line: Grid['lines'][number]) => string,
): string {
  let content = '';
  for (const [y, line] of lines.entries()) {
    const row = draw(line);
    if (row === '') continue;
    const id = rows.get(row) ?? rows.size;
    rows.set(row, id);
    content += `<use href="#r${id}"${y === 0 ? '' : ` y="${y * cellHeight}"`}/>`;
  }
  return cursor.visible ? content + cursorAt(cursor) : content;
}

function cursorAt({ x, y, shape }: Grid['cursor']): string {
  const [left, top] = [round(x * cellWidth), y * cellHeight];
  if (shape === 'bar') return `<rect x="${left}" y="${top}" width="2" height="${cellHeight}"/>`;
  if (shape === 'underline') return `<rect x="${left}" y="${top + cellHeight - 2}" width="${cellWidth}" height="2"/>`;
  return `<rect x="${left}" y="${top}" width="${cellWidth}" height="${cellHeight}" opacity=".6"/>`;
}

/** The film moves by whole pictures. */
function motion(shots: readonly Shot[], inner: number, totalMs: number): string {
  const at = (index: number): string => `transform:translateX(${round(-index * inner)}px)`;
  const last = at(shots.length - 1);
  if (shots.length < 2) return '';
  let passedMs = 0;
  const steps = shots.map(({ durationMs }, index) => {
    const step = `${percent(passedMs / totalMs)}{${at(index)}}`;
    passedMs += durationMs;
    return step;
  });
  return (
    `@keyframes f{${steps.join('')}100%{${last}}}.f{animation:f ${round(totalMs / 1000)}s steps(1,end) infinite}` +
    `@media(prefers-reduced-motion:reduce){.f{animation:none;${last}}}`
  );
}

const round = (value: number): number => Math.round(value * 1000) / 1000;
const percent = (share: number): string => `${Math.round(share * 1e7) / 1e5}%`;
