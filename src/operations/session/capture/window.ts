import { z } from 'zod';
import type { Call } from '../../../engine/call/call.ts';
import { operation } from '../../../engine/call/operation.ts';
import { drawRows } from '../../../engine/capture/draw.ts';
import { type RowsToDraw, rowsToDraw } from '../../../engine/capture/rows-to-draw.ts';
import { cutAt } from '../../../engine/capture/session-tile.ts';
import type { Terminal } from '../../../engine/terminal/terminal.ts';
import { ancestorsOf } from '../../../system/process-ancestors.ts';
import { plainLine, session, sessionOf } from '../shared.ts';
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
const mostWindowText = 1 << 20;

const Candidate = z.object({ session_id: z.string(), title: z.string() });

const WindowInput = z.object({
  ...session,
  title: z.string().max(200).optional().describe('Part of its title, or of its number'),
  pid: z.number().int().min(1).optional().describe('A process that runs in it'),
  scrollback: z.boolean().default(false).describe('Rows above the screen, too: a tall picture'),
  max_rows: z.number().int().min(1).max(mostRows).default(mostRows).describe('With scrollback: the newest so many'),
  scale: Scale,
  ...captureInput,
});

export const window = operation({
  title: 'Picture of a session',
  summary:
    'Text and PNG picture of one session, found by number, title or process; without any of them, of the lowest number.',
  access: 'observe',
  openWorld: true,
  pictures: true,
  input: WindowInput,
  output: z.object({
    session_id: z.string().optional(),
    title: z.string().optional(),
    screen: z.string().optional(),
    truncated: z.literal(true).optional().describe('The text was too long for this answer'),
    rows: z
      .object({ from: z.number().int(), count: z.number().int(), left_out: z.number().int() })
      .optional()
      .describe(
        'Absolute number of the first row in the picture, how many there are, and how many wanted rows are not',
      ),
    ...imageShape,
    text_snapshot: z.boolean(),
    matched: z.literal(false).optional().describe('No session fits; the picture is of all'),
    candidates: z.array(Candidate).optional(),
    sheet: Sheet.optional(),
    ...desktopShape,
    note: z.string().optional(),
  }),
  cliNames: ['screenshot window'],
  cliFlags: { scrollback: 'tall' },
  positional: ['id'],
  sessionOptional: true,
  async run(call) {
    const found = await windowOf(call);
    if (!found) return await unmatched(call);
    await found.sync(call.signal);
    const { drawable, ...rows } = await rowsOf(found, call.input, call.signal);
    const [text, isCut] = textOf(drawable.texts(rows.from, rows.count));
    const facts = {
      ...aboutSession(found),
      screen: text,
      ...(isCut && { truncated: true as const }),
      text_snapshot: true,
    };
    if (call.input.os) return { ...facts, ...(await desktop('window', call)) };
    const { scale } = call.input;
    const grid = (from: number, count: number) => drawable.grid(rows.from + from, count);
    const { cols } = found.screen.size;
    const request = { cols, rows: rows.count, grid, theme: themeOf(call), scale };
    const { rows: drawn, ...picture } = await drawRows(request, call.signal);
    const left_out = rows.count - drawn;
    const note = [
      left_out > 0 ? `A picture of all ${rows.count} rows would be too large: the newest ${drawn} show.` : '',
      plainNote(drawable, rows.from + left_out),
    ];
    return {
      ...facts,
      rows: { from: rows.from + left_out, count: drawn, left_out },
      ...(await saved('window', picture, call)),
      ...withNote(note),
    };
  },
  show: ({ image, matched, candidates = [] }) =>
    [
      image.path,
      ...(matched === false
        ? ['No session fits. There are:', ...candidates.map((one) => `${one.session_id} ${one.title}`)]
        : []),
    ].join('\n'),
  render: ({ image, session_id, title, screen: text, rows, truncated, matched, candidates = [], sheet, ...more }) =>
    withPicture(image, [
      session_id === undefined ? '' : `session ${session_id}: ${title}`,
      rows === undefined ? '' : `rows from ${rows.from}, ${rows.count} of them, ${rows.left_out} left out`,
      more.mode === undefined ? '' : `mode: ${more.mode}, taken by ${more.tool}`,
      matched === false ? `No session fits; the picture is of all. Candidates: ${candidateWords(candidates)}` : '',
      sheet === undefined ? '' : sheetWords(sheet),
      more.note ?? '',
      truncated === true ? 'The text below is cut.' : '',
      text ?? '',
    ]),
});

const candidateWords = (candidates: readonly z.output<typeof Candidate>[]): string =>
  candidates.length === 0 ? 'none' : candidates.map(({ session_id, title }) => `${session_id} ${title}`).join('; ');

type WindowCall = Call<z.output<typeof WindowInput>>;

/** Each filter that is given must fit. Among several sessions, the lowest number that still runs. */
async function windowOf(call: WindowCall): Promise<Terminal | undefined> {
  const { id, session_id, title, pid } = call.input;
  const isNamed = (id ?? session_id ?? undefined) !== undefined;
  const all = isNamed
    ? [await sessionOf(call)]
    : call.engine.sessions.all(call.caller).toSorted((a, b) => a.identity.number - b.identity.number);
  const ancestors = pid === undefined ? undefined : await ancestorsOf(pid, call.signal);
  const fits = all.filter(
    (terminal) =>
      (title === undefined || isCalled(terminal, title)) &&
      (ancestors === undefined || (terminal.process !== undefined && ancestors.has(terminal.process.pid))),
  );
  return fits.find(({ ended }) => !ended) ?? fits[0];
}

const isCalled = ({ identity: { number, name = '' }, state }: Terminal, part: string): boolean =>
  [state.title.current, String(number), name].some((text) => text.includes(part));

async function unmatched(call: WindowCall) {
  const { captures, picture, sheet } = await sheetOf(call);
  const image = call.input.os ? await desktop('window', call) : await saved('screen', picture, call);
  const candidates = captures.map(({ session_id, title }) => ({ session_id, title }));
  return {
    ...image,
    text_snapshot: false,
    matched: false as const,
    candidates,
    ...(!call.input.os && { sheet, ...sheetNote(sheet) }),
  };
}

/** The rows that are wanted, by absolute number. */
async function rowsOf(
  terminal: Terminal,
  { scrollback, max_rows }: Pick<z.output<typeof WindowInput>, 'scrollback' | 'max_rows'>,
  signal: AbortSignal,
): Promise<{ from: number; count: number; drawable: RowsToDraw }> {
  const { screen: shown } = terminal;
  const { viewportTop, cursor, alternate } = shown.facts;
  const { rows } = shown.size;
  if (!scrollback || alternate) {
    return { from: viewportTop, count: rows, drawable: await rowsToDraw(terminal, viewportTop, signal) };
  }
  const texts = shown.rowTexts(viewportTop, rows);
  const used = texts.findLastIndex(({ text }) => text.trim() !== '') + 1;
  const end = viewportTop + Math.max(used, cursor.y + 1);
  const drawable = await rowsToDraw(terminal, Math.max(0, end - max_rows), signal);
  const from = Math.max(drawable.first, end - max_rows);
  return { from, count: end - from, drawable };
}

function textOf(rows: readonly string[]): [text: string, isCut: boolean] {
  const lines = rows.map((row) => plainLine(row).trimEnd());
  const text = lines.join('\n').trimEnd();
  return text.length > mostWindowText ? [cutAt(text, mostWindowText), true] : [text, false];
}
