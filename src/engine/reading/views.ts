import { FairleadError } from '../../contract/errors.ts';
import type { Block } from '../terminal/blocks.ts';
import { echoedCommand } from './echoed-command.ts';
import { addFlags, plainText, type TextFlags } from '../../lib/plain-text.ts';
import { joinRows } from '../screen/rows.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { decodeCursor } from './cursor.ts';
import { overflowFrom } from './long-output/overflow.ts';
import { type ChangedRow, changedRows, comparable, type ScreenText, pictureText } from '../screen/screen-history.ts';
import { type Source, wholeLines } from './long-output/source.ts';

export const viewNames = ['screen', 'new', 'diff', 'command', 'output'] as const;
/**
 * screen: the rows that show. new: what came since a cursor. diff: rows that changed since a cursor. command: the output
 * of one command. output: everything kept. While a full-screen program shows, `new` and `output` are its screen.
 */
export type View = (typeof viewNames)[number];

export interface ReadRequest {
  readonly view: View;
  /** Of an earlier answer: `new` and `diff` begin there. */
  readonly cursor?: string | undefined;
  /** Of an earlier answer: what it left out, from its beginning. Goes before `view`. */
  readonly rest?: string | undefined;
  /** With `rest`: begin with this line instead. */
  readonly line?: number | undefined;
  /** With `command`: the id of a block, or text of its command; the newest one that has it. The last block otherwise. */
  readonly block?: number | string | undefined;
  readonly maxBytes?: number | undefined;
  /** Who reads: each reader has its own bases for `diff`. */
  readonly reader?: string | undefined;
  /** Read at once, rather than after the answer to input that was just sent. */
  readonly immediate?: boolean | undefined;
}

export interface CommandFacts {
  readonly block: number;
  readonly command: string | undefined;
  readonly running: boolean;
  readonly exitCode: number | undefined;
  /** Undefined if its begin or end was not seen. */
  readonly durationMs: number | undefined;
  readonly cwd: string | undefined;
}

/** A snapshot in time: later awaits must not observe another one. */
interface Moment {
  /** The screen shows the output up to here, or a little more. */
  readonly offset: number;
  readonly picture: ScreenText;
  readonly maxBytes: number;
}

/** Text of the screen, ready, or where in the log to get it from. */
type Body = Source | { readonly text: string; readonly flags: TextFlags; readonly source?: Source };

export interface ViewedText {
  readonly body: Body;
  readonly facts: {
    readonly lost?: boolean;
    readonly missedBytes?: number;
    readonly command?: CommandFacts;
    readonly diff?: {
      /** False when there was nothing to compare with: then all rows are here. */
      readonly compared: boolean;
      readonly rows: readonly ChangedRow[];
      /** Rows that moved out at the top since. */
      readonly scrolled: number;
    };
  };
}

type ViewReader = (terminal: Terminal, request: ReadRequest, moment: Moment) => ViewedText;

export const views: Readonly<Record<View, ViewReader>> = {
  screen: (_terminal, _request, { picture }) => ({ body: ofPicture(picture), facts: {} }),

  new(terminal, request, moment) {
    if (request.cursor === undefined) return views.output(terminal, request, moment);
    const cursor = decodeCursor(terminal, request.cursor);
    if (cursor.offset === terminal.log.end) return { body: { text: '', flags: {} }, facts: {} };
    const { screen } = terminal;
    if (screen.alternate) return views.screen(terminal, request, moment);
    if (!cursor.alternate && cursor.epoch === screen.epoch && cursor.row >= screen.baseRow) {
      const body = ofRows(terminal, cursor.row);
      if (Buffer.byteLength(body.text) <= moment.maxBytes) return { body, facts: {} };
    }
    return ofLog(terminal, cursor.offset, moment.offset, cursor.alternate);
  },

  diff(terminal, request, { picture }) {
    const before = request.cursor === undefined ? undefined : decodeCursor(terminal, request.cursor);
    const old = before && terminal.screen.history.find(before.picture);
    const compared = old !== undefined && comparable(old, picture);
    const rows = compared ? changedRows(old, picture) : picture.rows.map((text, row) => ({ row, text }));
    const scrolled = compared ? picture.top - old.top : 0;
    const text = rows.map((row) => `${row.row}| ${row.text}`).join('\n');
    return {
      body: { text, flags: picture.flags },
      facts: { diff: { compared, rows, scrolled }, ...(before && !old ? { lost: true } : {}) },
    };
  },

  command(terminal, request, moment) {
    const block = findBlock(terminal, request.block);
    const command = describe(terminal, block);
    if (terminal.screen.alternate && command.running) return { body: ofPicture(moment.picture), facts: { command } };
    const { body, facts } = ofLog(terminal, block.outputFrom, block.outputTo ?? moment.offset, false, true);
    return { body, facts: { ...facts, command } };
  },

  output(terminal, request, moment) {
    const { screen } = terminal;
    if (screen.alternate) return views.screen(terminal, request, moment);
    if (screen.baseRow === 0) {
      const body = ofRows(terminal, 0);
      if (Buffer.byteLength(body.text) <= moment.maxBytes) return { body, facts: {} };
    }
    return ofLog(terminal, 0, moment.offset, false);
  },
};

function ofPicture(picture: ScreenText): Body {
  return { text: pictureText(picture), flags: picture.flags, source: { kind: 'picture', id: picture.id } };
}

function ofRows({ screen }: Terminal, from: number): { text: string; flags: TextFlags } {
  const rows = screen.markedRows(from);
  const plain = plainText(joinRows(rows, 'join'), { separator: ' ' });
  const hidden = rows.reduce((sum, row) => sum + (row.hidden ?? 0), 0);
  return { text: plain.text, flags: addFlags(plain.flags, hidden > 0 ? { hidden } : {}) };
}

/** `exact`: output of a command begins where its mark says, not where its line does. */
function ofLog(terminal: Terminal, from: number, to: number, alternate: boolean, exact = false): ViewedText {
  const kept = terminal.log.start <= from || (exact && overflowFrom(terminal, from) !== undefined);
  const start = kept && exact ? { from, missed: 0 } : wholeLines(terminal, from, to);
  const source: Source = { kind: 'log', from: Math.min(start.from, to), to, size: terminal.screen.size, alternate };
  return { body: source, facts: start.missed > 0 ? { lost: true, missedBytes: start.missed } : {} };
}

function findBlock(terminal: Terminal, which: number | string | undefined): Block {
  const { blocks } = terminal;
  if (which === undefined) {
    if (blocks.last) return blocks.last;
    throw new FairleadError('not_found', 'No command has been seen in this terminal yet.', {
      hint: 'Commands are told apart in shells with integration (bash, zsh, fish, sh); read the view "output" instead.',
    });
  }
  const found =
    typeof which === 'number' ? blocks.find(which) : blocks.list.findLast((block) => block.command?.includes(which));
  if (found) return found;
  const what = typeof which === 'number' ? `Command ${which}` : `A command with ${JSON.stringify(which.slice(0, 60))}`;
  throw new FairleadError('not_found', `${what} is not among those this terminal remembers.`, {
    hint: 'Leave it out for the last command.',
  });
}

function describe(terminal: Terminal, block: Block): CommandFacts {
  const { clock, log, screen } = terminal;
  const running = !block.isOver && terminal.ended === undefined;
  const endedAt = block.isOver ? block.endedAt : clock.now();
  const command = block.command ?? echoedCommand(block, log, screen.size);
  return {
    block: block.id,
    command: command === undefined ? undefined : plainText(command).text,
    running,
    exitCode: block.exitCode,
    durationMs: endedAt === undefined || block.startedAt === undefined ? undefined : endedAt - block.startedAt,
    cwd: block.cwd === undefined ? undefined : plainText(block.cwd).text,
  };
}
