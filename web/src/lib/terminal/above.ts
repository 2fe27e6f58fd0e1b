import { Terminal } from '@xterm/xterm';
import type { OlderRows } from '../shapes.ts';
import { type CoreMarker, joinRows, putAbove, roomAbove } from './xterm-core.ts';

/** The first page is soon there; those after it are for a person who scrolls far. */
const firstRows = 500;
const pageRows = 2000;

export interface AboveParts {
  readonly xterm: Terminal;
  readonly session: string;
  /** The first row of the screen, and its number. */
  readonly anchor: CoreMarker;
  readonly top: number;
  readonly epoch: number;
  readonly call: <Output>(op: string, input: object) => Promise<Output>;
  /** Rows were put above; nothing is done when it is no longer wanted. */
  readonly came: () => void;
  readonly isOver: () => boolean;
}

/** Puts the rows that the server keeps above the screen, page by page, as many as the page has room for. */
export async function loadAbove(parts: AboveParts): Promise<void> {
  const { xterm, session, anchor, top, epoch, call, came, isOver } = parts;
  const { cols } = xterm;
  let before = top;
  for (let rows = firstRows; ; rows = pageRows) {
    const room = Math.min(rows, roomAbove(xterm));
    if (room <= 0) return;
    const page = await call<OlderRows>('person.scrollback', { session, before, rows: room });
    // Rows have other numbers by now, or other lines: what comes does not fit.
    const isStale = isOver() || page.epoch !== epoch || anchor.isDisposed || xterm.cols !== cols;
    if (isStale || page.rows.length === 0 || anchor.line !== top - before) return;
    await putPage(xterm, page);
    if (isOver()) return;
    before = page.from;
    came();
    xterm.refresh(0, xterm.rows - 1);
    if (page.from <= page.oldest) return;
  }
}

async function putPage(xterm: Terminal, { rows, wrapped }: OlderRows): Promise<void> {
  const { cols } = xterm;
  const scratch = new Terminal({ cols, rows: Math.max(1, rows.length), scrollback: 0, allowProposedApi: true });
  try {
    scratch.unicode.activeVersion = xterm.unicode.activeVersion;
  } catch {
    // Without the addon it measures as it always did.
  }
  try {
    await new Promise<void>((resolve) => scratch.write(rows.join('\r\n'), resolve));
    joinRows(scratch, wrapped);
    if (xterm.cols === cols) putAbove(xterm, scratch, Math.min(rows.length, roomAbove(xterm)));
  } finally {
    scratch.dispose();
  }
}
