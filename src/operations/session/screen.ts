import { z } from 'zod';
import { operation } from '../../engine/call/operation.ts';
import { refuseOldRows } from '../../engine/reading/epoch.ts';
import { findInTerminal } from '../../engine/reading/find.ts';
import { runsOf } from '../../engine/reading/styled-runs.ts';
import { detectErrors, errorPatterns } from '../../engine/reading/error-lines.ts';
import type { Terminal } from '../../engine/terminal/terminal.ts';
import { plainLine, CursorShape, cursorOf, session, sessionOf, syncedSession } from './shared.ts';

const sizes = { cols: z.number().int(), rows: z.number().int(), scrollback_rows: z.number().int() };
const place = { viewport_top: z.number().int(), epoch: z.number().int() };

const SameEpoch = z.number().int().optional().describe('Refuse if rows were renumbered since');

const sizeOf = ({ screen }: Terminal) => ({ ...screen.size, scrollback_rows: screen.scrollbackRows });
const placeOf = ({ screen }: Terminal) => ({ viewport_top: screen.viewportTop, epoch: screen.epoch });

/** Exactly as many rows as the screen has. */
function viewport(terminal: Terminal): { row: number; text: string; wrapped: boolean }[] {
  const { screen } = terminal;
  const { size } = screen;
  const shown = screen.rowTexts(screen.viewportTop, size.rows);
  return Array.from({ length: size.rows }, (_, at) => {
    const { text = '', wrapped = false } = shown[at] ?? {};
    return { row: screen.viewportTop + at, text: plainLine(text).trimEnd(), wrapped };
  });
}

const Run = z.object({
  col: z.number().int(),
  len: z.number().int(),
  fg: z.string().optional(),
  bg: z.string().optional(),
  bold: z.boolean().optional(),
  italic: z.boolean().optional(),
  underline: z.boolean().optional(),
  inverse: z.boolean().optional(),
});

export const read = operation({
  title: 'Read the screen',
  summary: 'The visible rows with absolute row numbers.',
  access: 'observe',
  input: z.object({ ...session, attrs: z.boolean().default(false).describe('Add colours and styles') }),
  output: z.object({
    cells: z.array(z.object({ row: z.number().int(), text: z.string(), runs: z.array(Run).optional() })),
    cursor: CursorShape,
    ...sizes,
    ...place,
  }),
  positional: ['id'],
  async run(call) {
    const terminal = await syncedSession(call);
    const lines = call.input.attrs ? terminal.screen.grid().lines : [];
    const cells = viewport(terminal).map(({ row, text }, at) => {
      const line = lines[at];
      return { row, text, ...(line === undefined ? {} : { runs: runsOf(line) }) };
    });
    return { cells, cursor: cursorOf(terminal), ...sizeOf(terminal), ...placeOf(terminal) };
  },
});

export const text = operation({
  title: 'Screen text',
  summary: 'The visible rows as plain lines.',
  access: 'observe',
  input: z.object(session),
  output: z.object({
    lines: z.array(z.string()),
    cursor: CursorShape,
    ...sizes,
    ...place,
    wrapped: z.array(z.number().int()).describe('Rows that continue the one above'),
  }),
  positional: ['id'],
  async run(call) {
    const terminal = await syncedSession(call);
    const rows = viewport(terminal);
    return {
      lines: rows.map((row) => row.text),
      cursor: cursorOf(terminal),
      ...sizeOf(terminal),
      ...placeOf(terminal),
      wrapped: rows.filter(({ wrapped }) => wrapped).map(({ row }) => row),
    };
  },
  cliNames: ['session text'],
  show: ({ lines }) => lines.join('\n').trimEnd(),
  render: ({ lines }) => lines.join('\n').trimEnd(),
});

const shapes = { block: 'Block', underline: 'Underline', bar: 'Bar' } as const;

export const cursor = operation({
  title: 'Cursor',
  summary: 'Position and shape of the cursor.',
  access: 'observe',
  input: z.object(session),
  output: CursorShape.extend({ shape: z.string(), ...place }),
  positional: ['id'],
  async run(call) {
    const terminal = await syncedSession(call);
    const { screen } = terminal;
    const blink = screen.modes.cursorBlink;
    const shape = blink === undefined ? 'Default' : `${blink ? 'Blinking' : 'Steady'}${shapes[screen.cursor.shape]}`;
    return { ...cursorOf(terminal), shape, ...placeOf(terminal) };
  },
});

export const scroll = operation({
  title: 'Read scrollback',
  summary: 'Rows from an absolute row number on. A negative offset counts from the end.',
  access: 'observe',
  input: z.object({
    ...session,
    offset: z.number().int().default(0).describe('First row'),
    count: z.number().int().min(1).default(100).describe('How many rows'),
    epoch: SameEpoch,
  }),
  output: z.object({
    lines: z.array(z.string()),
    offset: z.number().int(),
    count: z.number().int(),
    first_available: z.number().int(),
    ...place,
  }),
  positional: ['id', 'offset', 'count'],
  async run(call) {
    const terminal = await syncedSession(call);
    refuseOldRows(terminal, call.input.epoch);
    const { offset, count } = call.input;
    const height = terminal.screen.size.rows;
    const { rows, first, viewportTop, epoch } = await terminal.feed.older.read({}, call.signal);
    const from = Math.max(first, offset < 0 ? viewportTop + height + offset : offset);
    const lines = rows(from, count).map((row) => plainLine(row.text).trimEnd());
    return { lines, offset: from, count: lines.length, first_available: first, viewport_top: viewportTop, epoch };
  },
  show: ({ lines }) => lines.join('\n'),
  render: ({ lines }) => lines.join('\n'),
});

/** Keeps an answer well below the protocol's line limit. */
const largestAnswer = 4 << 20;

export const search = operation({
  title: 'Search a session',
  summary: 'Find text on the screen and in the scrollback.',
  access: 'observe',
  input: z.object({
    ...session,
    pattern: z.string().min(1).describe('Text to find'),
    max_results: z.number().int().min(1).default(50).describe('More than 10000 means 10000'),
    regex: z.boolean().default(false).describe('The pattern is an RE2 expression'),
    ignore_case: z.boolean().default(false).describe('Ignore upper and lower case'),
    from_row: z.number().int().min(0).optional().describe('Only from this row on'),
    from_col: z.number().int().min(0).optional().describe('next_col of the answer that gave from_row as next'),
    epoch: SameEpoch,
  }),
  output: z.object({
    matches: z.array(z.object({ row: z.number().int(), col: z.number().int(), text: z.string(), match: z.string() })),
    total: z.number().int().describe('All matches, returned or not'),
    next: z.number().int().optional().describe('from_row for the matches left out'),
    next_col: z.number().int().optional().describe('from_col for them, where some of that line were returned'),
    incomplete: z.boolean().optional().describe('The search ran out of time; total counts the matches so far'),
    ...place,
  }),
  positional: ['id', 'pattern'],
  async run(call) {
    const { pattern, max_results, regex, ignore_case, from_row, from_col, epoch } = call.input;
    const terminal = await sessionOf(call);
    const request = {
      pattern,
      regex,
      ignoreCase: ignore_case,
      scope: 'all',
      max: max_results,
      maxSize: largestAnswer,
      from: from_row,
      fromCol: from_col,
      epoch,
    } as const;
    const found = await findInTerminal(terminal, request, call.signal);
    const { total, next, nextCol, incomplete, screenTop } = found;
    return {
      matches: found.matches.map(({ row, col, line, match }) => ({ row, col, text: line, match })),
      total,
      ...(next === undefined ? {} : { next }),
      ...(nextCol === undefined ? {} : { next_col: nextCol }),
      ...(incomplete === undefined ? {} : { incomplete }),
      viewport_top: screenTop,
      epoch: found.epoch,
    };
  },
  cliNames: ['session search'],
  render: ({ matches }) => matches.map(({ row, text: line }) => `${row}: ${line}`).join('\n'),
});

export const detect_errors = operation({
  title: 'Look for errors',
  summary: 'Find rows that look like an error.',
  access: 'observe',
  input: z.object({
    ...session,
    patterns: z.array(z.string().min(1).max(200)).max(64).optional().describe('Look for these instead'),
    scope: z.enum(['viewport', 'last_block', 'scrollback']).default('viewport').describe('Where to look'),
  }),
  output: z.object({
    has_errors: z.boolean(),
    errors: z.array(
      z.object({
        row: z.number().int(),
        text: z.string(),
        pattern: z.string(),
        severity: z.enum(['error', 'warning']),
      }),
    ),
    last_exit_code: z.number().int().optional(),
  }),
  positional: ['id'],
  cliNames: ['session errors'],
  async run(call) {
    const terminal = await syncedSession(call);
    const { scope, patterns = errorPatterns } = call.input;
    const errors = (await detectErrors(terminal, scope, patterns, call.signal)).map((row) => ({
      ...row,
      text: plainLine(row.text),
    }));
    const exitCode = terminal.blocks.last?.exitCode;
    return { has_errors: errors.length > 0, errors, ...(exitCode === undefined ? {} : { last_exit_code: exitCode }) };
  },
});
