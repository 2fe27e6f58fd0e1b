import { z } from 'zod';
import { FairleadError } from '../../../contract/errors.ts';
import { quote } from '../../../contract/quote.ts';
import type { Call } from '../../../engine/call/call.ts';
import { operation } from '../../../engine/call/operation.ts';
import { replayBlock } from '../../../engine/capture/block-screen.ts';
import { cellsText } from '../../../engine/capture/cells-text.ts';
import { drawRows } from '../../../engine/capture/draw.ts';
import { type RowsToDraw, rowsToDraw } from '../../../engine/capture/rows-to-draw.ts';
import { refuseOldRows } from '../../../engine/reading/epoch.ts';
import { findInTerminal } from '../../../engine/reading/find.ts';
import type { Grid } from '../../../engine/screen/grid.ts';
import type { Terminal } from '../../../engine/terminal/terminal.ts';
import { session, sessionOf, syncedSession } from '../shared.ts';
import {
  aboutSession,
  captureInput,
  desktop,
  desktopShape,
  imageShape,
  plainNote,
  saved,
  Scale,
  themeOf,
  withNote,
  withPicture,
} from './image.ts';
import { Sheet, sheetNote, sheetOf, sheetWords } from './screen.ts';

const mostRows = 2000;
const Count = z.number().int().min(1);
const Place = z.number().int().min(0);

const SelectInput = z.object({
  ...session,
  row: Place.optional().describe('First row, by absolute number as in screen.read'),
  col: Place.optional().describe('First column, from 0'),
  rows: Count.max(mostRows).optional().describe('How many rows; default to the end of the screen'),
  cols: Count.optional().describe('How many columns; default to the right edge'),
  epoch: Place.optional().describe('Refuse if rows were renumbered since'),
  block: Count.optional().describe('One command with its output, by the number of its block'),
  pattern: z.string().min(1).max(1000).optional().describe('The newest line with this text, in any session or in one'),
  regex: z.boolean().default(false).describe('The pattern is an RE2 expression'),
  context: Place.max(100).default(2).describe('With pattern: rows before and after'),
  scale: Scale,
  ...captureInput,
});
type SelectCall = Call<z.output<typeof SelectInput>>;

const Region = z.object({
  row: z.number().int().optional(),
  col: z.number().int(),
  rows: z.number().int(),
  cols: z.number().int(),
  epoch: z.number().int().optional(),
  block: z.number().int().optional(),
  match: z.string().optional().describe('What the pattern found'),
  total: z.number().int().optional().describe('How many matches the session has'),
});

const message = 'Interactive region selection is not available in headless MCP mode; captured the screen instead.';

export const select = operation({
  title: 'Picture of a region',
  summary: 'Text and PNG picture of a part of a session: rows and columns, one command, or the lines around a text.',
  access: 'observe',
  openWorld: true,
  pictures: true,
  input: SelectInput,
  output: z.object({
    session_id: z.string().optional(),
    title: z.string().optional(),
    region: Region.optional(),
    text: z.string().optional(),
    ...imageShape,
    mode: z.enum(['region', 'screen_fallback', 'desktop']),
    message: z.string().optional(),
    sheet: Sheet.optional(),
    tool: desktopShape.tool,
    note: z.string().optional(),
  }),
  cliNames: ['screenshot region'],
  positional: ['id'],
  sessionOptional: true,
  async run(call) {
    const { input } = call;
    const kinds = kindsOf(input);
    if (kinds.length > 1) {
      throw new FairleadError('invalid_input', `A region is given by one of ${kinds.join(', ')}, not by all of them.`, {
        hint: 'Give row with col, rows and cols, or block, or pattern.',
      });
    }
    if (input.os) return await desktop('region', call);
    if (input.block !== undefined) return await ofBlock(call, input.block);
    if (input.pattern !== undefined) return await ofPattern(call, input.pattern);
    if (kinds.length > 0 || isNamed(input)) return await ofRows(call);
    const { picture, sheet } = await sheetOf(call);
    const image = await saved('screen', picture, call);
    return { ...image, mode: 'screen_fallback' as const, message, sheet, ...sheetNote(sheet) };
  },
  show: ({ image, text }) => (text === undefined ? image.path : `${image.path}\n${text}`),
  render: ({ image, session_id, title, region, text, mode, message: words = '', sheet, tool, note = '' }) =>
    withPicture(image, [
      `mode: ${mode}${tool === undefined ? '' : `, taken by ${tool}`}`,
      words,
      session_id === undefined ? '' : `session ${session_id}: ${title}`,
      region === undefined ? '' : regionWords(region),
      sheet === undefined ? '' : sheetWords(sheet),
      note,
      text ?? '',
    ]),
});

const isNamed = ({ id, session_id }: Pick<z.output<typeof SelectInput>, 'id' | 'session_id'>): boolean =>
  (id ?? session_id ?? undefined) !== undefined;

/** Which of the three ways to name a region were used. */
function kindsOf({ row, col, rows, cols, block, pattern }: z.output<typeof SelectInput>): string[] {
  const isPlace = [row, col, rows, cols].some((one) => one !== undefined);
  return [
    ...(isPlace ? ['row'] : []),
    ...(block === undefined ? [] : ['block']),
    ...(pattern === undefined ? [] : ['pattern']),
  ];
}

const regionWords = ({ row, col, rows, cols, epoch, block, match, total }: z.output<typeof Region>): string =>
  [
    block === undefined ? '' : `block ${block}`,
    row === undefined ? '' : `row ${row}`,
    `column ${col}, ${rows} rows, ${cols} columns`,
    epoch === undefined ? '' : `epoch ${epoch}`,
    match === undefined ? '' : `match ${quote(match)}, one of ${total}`,
  ]
    .filter((part) => part !== '')
    .join(', ');

interface Part {
  readonly cols: number;
  readonly rows: number;
  readonly fromCol?: number;
  readonly colCount?: number;
  readonly grid: (from: number, count: number) => Grid;
  /** Where its rows come from, if they are rows of the session. */
  readonly source?: RowsToDraw;
}

/** Draws and saves a part, with its text. What of it does not fit a picture is left out at its beginning. */
async function taken(call: SelectCall, terminal: Terminal, part: Part, named: Partial<z.output<typeof Region>>) {
  const { scale } = call.input;
  const { fromCol: col = 0, colCount: cols = part.cols - col } = part;
  const { rows, ...picture } = await drawRows({ ...part, theme: themeOf(call), scale }, call.signal);
  const left = part.rows - rows;
  const { row } = named;
  return {
    ...aboutSession(terminal),
    region: { ...named, ...(row === undefined ? {} : { row: row + left }), col, rows, cols },
    text: cellsText(part.grid(left, rows), col, cols),
    ...(await saved('region', picture, call)),
    mode: 'region' as const,
    ...withNote([
      left > 0 ? `A picture of all ${part.rows} rows would be too large: the last ${rows} show.` : '',
      part.source && row !== undefined ? plainNote(part.source, row + left) : '',
    ]),
  };
}

async function ofRows(call: SelectCall) {
  const { epoch, ...wanted } = call.input;
  const terminal = await syncedSession(call);
  refuseOldRows(terminal, epoch);
  const { screen } = terminal;
  const { size, viewportTop } = screen;
  const end = viewportTop + size.rows;
  const row = wanted.row ?? viewportTop;
  const col = wanted.col ?? 0;
  const source = await rowsToDraw(terminal, row, call.signal);
  const { first } = source;
  if (row < first || row >= end) {
    throw new FairleadError('invalid_input', `There is no row ${row}: the rows are ${first} to ${end - 1}.`, {
      hint: row < first ? 'Older rows are no longer kept.' : 'Rows are counted from the start of the session.',
    });
  }
  if (col >= size.cols) {
    throw new FairleadError('invalid_input', `There is no column ${col}: the columns are 0 to ${size.cols - 1}.`, {
      hint: 'Give a smaller col.',
    });
  }
  const rows = Math.min(wanted.rows ?? end - row, end - row);
  const colCount = Math.min(wanted.cols ?? size.cols, size.cols - col);
  const grid = (from: number, count: number): Grid => source.grid(row + from, count);
  return await taken(
    call,
    terminal,
    { cols: size.cols, rows, fromCol: col, colCount, grid, source },
    { row, epoch: screen.epoch },
  );
}

async function ofBlock(call: SelectCall, id: number) {
  const terminal = await syncedSession(call);
  const block = terminal.blocks.find(id);
  if (!block) {
    const { list } = terminal.blocks;
    const [oldest, newest] = [list[0], list.at(-1)];
    throw new FairleadError('not_found', `Session ${terminal.identity.number} has no block ${id}.`, {
      hint: oldest && newest ? `Its blocks are ${oldest.id} to ${newest.id}.` : 'Its shell has marked no command yet.',
    });
  }
  using replayed = await replayBlock(terminal, block, mostRows, call.signal);
  const { screen, rows, isCut } = replayed;
  const { baseRow, size } = screen;
  const grid = (from: number, count: number): Grid => ({
    ...screen.grid({ from: baseRow + from, rows: count }),
    cursor: { x: 0, y: 0, visible: false, shape: 'block' },
  });
  const answer = await taken(call, terminal, { cols: size.cols, rows, grid }, { block: id });
  return isCut && answer.note === undefined ? { ...answer, note: 'Its first rows are no longer kept.' } : answer;
}

async function ofPattern(call: SelectCall, pattern: string) {
  const { input, engine, caller, signal } = call;
  const terminals = isNamed(input)
    ? [await sessionOf(call)]
    : engine.sessions.all(caller).toSorted((a, b) => a.identity.number - b.identity.number);
  for (const terminal of terminals) {
    const { regex, epoch } = input;
    const request = { pattern, regex, epoch, scope: 'all', max: 10_000, maxSize: Number.POSITIVE_INFINITY } as const;
    const { matches, total, epoch: now } = await findInTerminal(terminal, request, signal);
    const newest = matches.at(-1);
    if (!newest) continue;
    const { screen } = terminal;
    const source = await rowsToDraw(terminal, Math.max(0, newest.row - input.context), signal);
    const first = Math.max(source.first, newest.row - input.context);
    const last = Math.min(screen.viewportTop + screen.size.rows - 1, newest.endRow + input.context);
    const rows = Math.min(mostRows, last - first + 1);
    const grid = (from: number, count: number): Grid => source.grid(first + from, count);
    const named = { row: first, epoch: now, match: newest.match, total };
    return await taken(call, terminal, { cols: screen.size.cols, rows, grid, source }, named);
  }
  throw new FairleadError('not_found', `No session shows ${quote(pattern)}.`, {
    hint: 'Only what is still in the scrollback can be found. Letters must have the same case; regex takes (?i).',
  });
}
