import type { IDecoration, IMarker, Terminal } from '@xterm/xterm';
import './marks.css';
import { time } from '../format.ts';
import type { FollowedEvent, History, Typed } from '../shapes.ts';
import { shown } from '../visible.ts';
import { type CoreMarker, cursorRow, markRow } from './xterm-core.ts';

/** A name stands at the end of a row if so many columns are free there. */
const nameColumns = 24;
const mostMarks = 1000;
/** Eight dots for every secret: its length stays hidden, too. */
const dots = '••••••••';

interface TypedMark {
  readonly marker: CoreMarker;
  readonly typed: Pick<Typed, 'by' | 'kind' | 'secret'>;
  readonly decorations: readonly IDecoration[];
}

/** Who typed what in a terminal, and where its commands stand: marks on rows that move with them. */
export class TerminalMarks {
  readonly #xterm: Terminal;
  readonly #isMe: (by: string) => boolean;
  readonly #typed: TypedMark[] = [];
  readonly #blocks = new Map<number, CoreMarker>();
  /** Where a screen that was taken whole begins: rows have numbers relative to it. */
  #anchor: { readonly marker: CoreMarker; readonly row: number } | undefined;
  #prompt: CoreMarker | undefined;
  #tint: IDecoration | undefined;
  #gap: IDecoration | undefined;
  /** What stands in rows that have not come yet. */
  #waiting: { typed: History['typed']; blocks: History['blocks'] } = { typed: [], blocks: [] };

  constructor(xterm: Terminal, isMe: (by: string) => boolean) {
    this.#xterm = xterm;
    this.#isMe = isMe;
  }

  /** Hides or shows stripes and names. */
  set isHidden(isHidden: boolean) {
    this.#xterm.element?.classList.toggle('hides-names', isHidden);
  }

  /** A new screen: every mark is gone with the old one. `top`: the number of its first row. */
  begin(marker: CoreMarker, top: number): void {
    this.clear();
    this.#anchor = { marker, row: top };
  }

  clear(): void {
    for (const { decorations, marker } of this.#typed.splice(0)) {
      for (const one of decorations) one.dispose();
      marker.dispose();
    }
    this.#blocks.clear();
    this.#tint?.dispose();
    this.#gap?.dispose();
    this.#prompt = undefined;
    this.#waiting = { typed: [], blocks: [] };
  }

  /** Everything before the event is on the screen, and nothing after. */
  take(event: FollowedEvent): void {
    const row = cursorRow(this.#xterm);
    // A full-screen program has rows of its own.
    if (row === undefined) return;
    if (event.event === 'typed') this.#mark(event, row);
    else if (event.event === 'prompt') this.#prompt = markRow(this.#xterm, row);
    else if (event.event === 'block' && !event.isOver) {
      this.#blocks.set(event.id, this.#prompt ?? markRow(this.#xterm, row));
      this.#prompt = undefined;
    }
  }

  /** What happened before the page was opened. */
  remember({ typed, blocks, prompt }: History): void {
    this.#waiting = { typed: [...typed], blocks: [...blocks] };
    const row = prompt === undefined ? undefined : this.#lineOf(prompt);
    if (row !== undefined && row >= 0) this.#prompt ??= markRow(this.#xterm, row);
    this.place();
  }

  /** Marks what stands in rows that are there now. */
  place(): void {
    const { typed, blocks } = this.#waiting;
    const place = (row: number | undefined, put: (line: number) => void): boolean => {
      const line = row === undefined ? undefined : this.#lineOf(row);
      // Without a row it can never be placed; before the first one, perhaps later.
      if (line === undefined) return false;
      if (line >= 0) put(line);
      return line < 0;
    };
    this.#waiting = {
      typed: typed.filter((one) => place(one.row, (line) => this.#mark(one, line))),
      blocks: blocks.filter((one) =>
        place(one.row, (line) => {
          if (!this.#blocks.has(one.id)) this.#blocks.set(one.id, markRow(this.#xterm, line));
        }),
      ),
    };
  }

  /** Scrolls to a block and tints its rows; without a number nothing is tinted. False when it is not in the page. */
  show(id: number | undefined): boolean {
    this.#tint?.dispose();
    const marker = id === undefined ? undefined : this.#blocks.get(id);
    if (!marker || marker.isDisposed) return false;
    const end = this.#rowAfter(marker.line);
    this.#xterm.scrollToLine(Math.max(0, marker.line - 1));
    this.#tint = this.#xterm.registerDecoration({
      marker: marker as unknown as IMarker,
      width: this.#xterm.cols,
      height: Math.max(1, Math.min(end - marker.line, this.#xterm.rows)),
      layer: 'bottom',
    });
    this.#tint?.onRender((element) => element.classList.add('block-tint'));
    return true;
  }

  /** The block that a reader of the screen sees first. */
  get visibleBlock(): number | undefined {
    const { viewportY } = this.#xterm.buffer.active;
    let found: number | undefined;
    let at = -1;
    for (const [id, { line, isDisposed }] of this.#blocks) {
      if (!isDisposed && line <= viewportY + 1 && line > at) [found, at] = [id, line];
    }
    return found;
  }

  /** A line above the screen that says how much is missing there. */
  gap(words: string | undefined): void {
    this.#gap?.dispose();
    this.#gap = undefined;
    const { marker } = this.#anchor ?? {};
    if (words === undefined || !marker || marker.isDisposed) return;
    this.#gap = this.#xterm.registerDecoration({ marker: marker as unknown as IMarker, width: this.#xterm.cols });
    this.#gap?.onRender((element) => {
      element.classList.add('gap-line');
      element.dataset['words'] = words;
    });
  }

  #lineOf(row: number): number | undefined {
    const { marker, row: top } = this.#anchor ?? {};
    return !marker || marker.isDisposed || top === undefined ? undefined : marker.line + row - top;
  }

  /** Where the block that begins on this line ends: at the next one, or where the cursor is. */
  #rowAfter(line: number): number {
    const markers = [...this.#blocks.values(), ...(this.#prompt ? [this.#prompt] : [])];
    const next = markers.filter((one) => !one.isDisposed && one.line > line).map((one) => one.line);
    return Math.min(...next, (cursorRow(this.#xterm) ?? this.#xterm.buffer.normal.length - 1) + 1);
  }

  #mark(typed: Pick<Typed, 'by' | 'kind' | 'secret' | 'at'>, line: number): void {
    const same = this.#typed.findLast((one) => !one.marker.isDisposed && one.marker.line === line);
    if (same && same.typed.by === typed.by && same.typed.secret === typed.secret) return;
    const marker = markRow(this.#xterm, line);
    const who = typed.kind === 'agent' ? 'agent' : this.#isMe(typed.by) ? 'you' : 'other';
    const name = who === 'you' ? 'You' : shown(typed.by, 32);
    const words = `${name}${typed.secret ? `, hidden ${dots}` : ''} · ${time(typed.at)}`;
    const on = marker as unknown as IMarker;
    const stripe = this.#xterm.registerDecoration({ marker: on, width: 1 });
    const label = this.#xterm.registerDecoration({ marker: on, anchor: 'right', width: nameColumns });
    stripe?.onRender((element) => {
      if (element.classList.contains('typed-mark')) return;
      element.classList.add('typed-mark', who);
      element.tabIndex = -1;
      element.setAttribute('role', 'note');
      element.setAttribute('aria-label', words);
      const asked = (isAsked: boolean) => () => label?.element?.classList.toggle('asked', isAsked);
      for (const type of ['mouseenter', 'focus']) element.addEventListener(type, asked(true));
      for (const type of ['mouseleave', 'blur']) element.addEventListener(type, asked(false));
    });
    label?.onRender((element) => {
      if (element.textContent !== words) element.textContent = words;
      element.classList.add('typed-name', who);
      element.classList.toggle('crowded', !this.#isFree(marker.line));
    });
    this.#typed.push({ marker, typed, decorations: [stripe, label].filter((one) => one !== undefined) });
    if (this.#typed.length <= mostMarks) return;
    const oldest = this.#typed.shift();
    for (const one of oldest?.decorations ?? []) one.dispose();
    oldest?.marker.dispose();
  }

  #isFree(line: number): boolean {
    const text = this.#xterm.buffer.normal.getLine(line)?.translateToString(true) ?? '';
    return text.length + nameColumns < this.#xterm.cols;
  }
}
