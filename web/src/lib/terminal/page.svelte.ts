import { faultWords } from '../fault.ts';
import { feed } from '../feed.svelte.ts';
import { Keyboard } from '../keyboard.svelte.ts';
import { isKey, preferences } from '../preferences.svelte.ts';
import type { TerminalView } from '../terminal-view.ts';
import { shown } from '../visible.ts';
import { TerminalFind } from './find.svelte.ts';
import { TerminalInput } from './input.svelte.ts';
import { planPaste } from './paste.ts';
import { isReport } from './quiet.ts';
import { selectedText, sizeFor } from './screen-tools.ts';
import { shortcutOf } from './shortcuts.ts';
import { unsent } from './words.ts';

/** What stands below the screen: one at a time. */
export type Dock =
  | { readonly kind: 'typing' }
  | { readonly kind: 'running' }
  | { readonly kind: 'hand_back' }
  | { readonly kind: 'paste'; readonly keys: string; readonly lines: number }
  | { readonly kind: 'refused'; readonly bytes: number };

const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);
const ctrlC = '\x03';
/** Pressed again within this time, the key that leaves is sent. */
const twiceMs = 1500;
/** A window that is being dragged is measured when it rests. */
const restMs = 250;

/** One terminal and what a person does with it. Everything that its parts show and do goes through here. */
export class TerminalPage {
  readonly id: string;
  readonly keyboard: Keyboard;
  readonly input: TerminalInput;
  readonly find: TerminalFind;
  view = $state.raw<TerminalView>();
  place = $state.raw<HTMLElement>();
  dock = $state.raw<Dock>();
  ended = $state<string>();
  failure = $state<string>();
  /** Why the keyboard was lost, and what was not sent. */
  lost = $state<{ readonly why: string; readonly unsent: string | undefined }>();
  skipped = $state(0);
  newLines = $state(0);
  /** When the recording that is being made began. */
  recordedSince = $state<number>();
  isRailOpen = $state(matchMedia('(min-width: 1100px)').matches);
  isReading = $state(false);
  link = $state<string>();
  offered = $state<string>();
  /** What was copied a moment ago, for a screen reader. */
  said = $state('');
  /** The name of block that is looked at. */
  block = $state<number>();
  /** The block whose rows are at the top of the screen; undefined before the first one. */
  visibleBlock = $state<number>();
  hidesNames = $state(false);
  /** On a phone there is room for one of them. */
  shows = $state<'screen' | 'log'>('screen');
  zoom = $state<'fit' | 'full'>('fit');
  #leftAt = 0;
  #unheard = 0;
  #resting: ReturnType<typeof setTimeout> | undefined;
  hint = $state(false);

  constructor(id: string) {
    this.id = id;
    this.keyboard = new Keyboard(id, (why) => this.#lose(why, ''));
    this.input = new TerminalInput(id, {
      epoch: () => this.keyboard.epoch,
      sent: () => this.keyboard.used(),
      failed: (why, text, code) => {
        if (code === 'conflict')
          this.#lose(`${shown(this.terminal?.keyboard?.by ?? 'Another', 32)} has the keyboard.`, text);
        else if (text !== '') this.#lose(why, text);
        else this.failure = why;
      },
    });
    this.find = new TerminalFind(id, () => this.view?.xterm);
  }

  get terminal() {
    return feed.terminals.get(this.id);
  }

  /** Its program has ended, told by the stream or by the feed. */
  get isOver(): boolean {
    return this.ended !== undefined || this.terminal?.exitCode !== undefined;
  }

  get isOffline(): boolean {
    return feed.link !== 'live';
  }

  /** The command of another that runs now. */
  get runningCommand(): { readonly command: string; readonly ms: number } | undefined {
    const { block, state } = this.terminal ?? {};
    if (state !== 'running' || !block || block.endedAt !== undefined || block.startedAt === undefined) return undefined;
    return { command: shown(block.command ?? 'The command', 60), ms: feed.now - block.startedAt };
  }

  dispose(): void {
    clearTimeout(this.#resting);
    this.find.close();
    this.input.dispose();
    this.keyboard.dispose();
    this.view?.dispose();
  }

  /** A phone has sticky Ctrl and Alt; its key bar changes what is typed meanwhile. */
  throughModifiers: (keys: string) => string = (keys) => keys;

  /** What the emulator took from the keyboard or the mouse. */
  typed(raw: string): void {
    const keys = raw.length === 1 ? this.throughModifiers(raw) : raw;
    if (keys === ctrlC) return this.input.interrupt();
    if (isReport(keys)) {
      if (!this.keyboard.isHeldByOther && this.mayTypeNow) this.input.type(keys);
      return;
    }
    if (!this.#admits()) return;
    this.lost = undefined;
    this.input.type(keys);
  }

  /** Whether keys could go at all. */
  get mayTypeNow(): boolean {
    return !this.isOffline && !this.isOver && feed.can('terminals.type');
  }

  /** Whether keys may go; if another has the keyboard, the bar that offers to take over comes instead. */
  #admits(): boolean {
    if (!this.mayTypeNow) {
      this.#unheard += 1;
      this.hint = this.#unheard >= 3;
      return false;
    }
    if (!this.keyboard.isHeldByOther) return true;
    this.dock ??= { kind: 'typing' };
    return false;
  }

  /** A key in the terminal; false: it is not for the program. */
  pressed(event: KeyboardEvent): boolean {
    if (this.dock?.kind === 'typing' && this.dockKey(event)) return false;
    const shortcut = shortcutOf(event, isKey(event, preferences.leaveKey), isMac);
    if (shortcut === undefined) return true;
    // The browser itself pastes: only then it gives the text without asking.
    if (shortcut === 'paste') return false;
    event.preventDefault();
    // The page's own keys begin where the terminal's end: this one is used up.
    event.stopPropagation();
    if (shortcut === 'leave') this.leave();
    else if (shortcut === 'find') this.find.open();
    else if (shortcut === 'copy') void this.copy(this.view ? selectedText(this.view.xterm) : '');
    else if (shortcut === 'rail') this.isRailOpen = !this.isRailOpen;
    else if (shortcut === 'text') this.isReading = !this.isReading;
    else if (shortcut === 'up' || shortcut === 'down') this.view?.xterm.scrollPages(shortcut === 'up' ? -1 : 1);
    else this.stepBlock(shortcut === 'block_up' ? -1 : 1);
    return false;
  }

  /** Another block is looked at; the rail, which knows them, does it. */
  stepBlock: (by: 1 | -1) => void = () => {};

  /** Scrolls to a block and tints its rows, as far as the screen knows where it stands. */
  showBlock(id: number): void {
    this.view?.showBlock(id);
  }

  leave(): void {
    this.#leftAt = Date.now();
    this.view?.xterm.blur();
    this.place?.closest<HTMLElement>('main')?.focus();
  }

  /** The key that leaves was pressed again: the program gets it, and the focus returns. */
  leftTwice(event: KeyboardEvent): boolean {
    if (!isKey(event, preferences.leaveKey) || Date.now() - this.#leftAt > twiceMs) return false;
    this.#leftAt = 0;
    if (preferences.leaveKey === 'Ctrl+]') this.typed('\x1d');
    this.view?.focus();
    return true;
  }

  /** Keys of the bar that asks whether to take over; every other key does nothing. */
  dockKey(event: KeyboardEvent): boolean {
    if (event.key === 'Escape') this.dock = undefined;
    else if (event.key === 'Enter' && event.ctrlKey) void this.takeOver();
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  }

  /** Asks first when a command runs; then takes over. */
  async takeOver(when?: 'now' | 'command_ends'): Promise<void> {
    this.lost = undefined;
    if (when === undefined && this.runningCommand && this.keyboard.isHeldByOther) {
      this.dock = { kind: 'running' };
      return;
    }
    this.dock = undefined;
    await this.keyboard.take(when ?? 'now');
    if (!this.keyboard.isMine) return;
    this.view?.focus();
    await this.useWindowSize();
  }

  askHandBack(): void {
    this.dock = { kind: 'hand_back' };
  }

  async handBack(note: string): Promise<void> {
    this.dock = undefined;
    await this.keyboard.give(note);
    this.view?.focus();
  }

  /** Keys of the composer and the key bar: as if typed. */
  send(keys: string): void {
    if (keys === ctrlC) return this.input.interrupt();
    if (!this.#admits()) return;
    this.lost = undefined;
    this.input.type(keys);
  }

  paste(text: string): void {
    if (text === '' || !this.#admits()) return;
    const isBracketed = this.view?.xterm.modes.bracketedPasteMode === true;
    const plan = planPaste(text, isBracketed, preferences.pasteQuestion);
    if (plan.kind === 'send') this.input.paste(plan.keys);
    else if (plan.kind === 'ask') this.dock = plan.kind === 'ask' ? { ...plan, kind: 'paste' } : undefined;
    else this.dock = { kind: 'refused', bytes: plan.bytes };
  }

  pasteAll(keys: string): void {
    this.dock = undefined;
    this.input.paste(keys);
    this.view?.focus();
  }

  async copy(text: string): Promise<void> {
    if (text === '') return;
    try {
      await navigator.clipboard.writeText(text);
      this.say(`Copied ${text.length.toLocaleString('en')} characters.`);
    } catch {
      this.say('The browser did not allow copying.');
    }
  }

  say(words: string): void {
    this.said = words;
  }

  /** The size this window would give the terminal. */
  get windowSize(): { cols: number; rows: number } | undefined {
    return this.view && this.place ? sizeFor(this.view.xterm, this.place, preferences.fontSize) : undefined;
  }

  /** While this person has the keyboard, the terminal has the size of the window, if the person wants that. */
  async useWindowSize(): Promise<void> {
    const { epoch } = this.keyboard;
    const size = this.windowSize;
    if (epoch === undefined || !preferences.useWindowSize || !size || this.isOver) return;
    if (size.cols === this.terminal?.cols && size.rows === this.terminal.rows) return;
    await this.act('person.resize', { session: this.id, ...size, epoch });
  }

  windowChanged(): void {
    clearTimeout(this.#resting);
    this.#resting = setTimeout(() => void this.useWindowSize(), restMs);
  }

  /** An operation on this terminal; what fails is said in the banner. */
  async act(op: string, input: object): Promise<unknown> {
    try {
      return await feed.live?.call(op, input);
    } catch (error) {
      this.failure = faultWords(error);
      return undefined;
    }
  }

  #lose(why: string, text: string): void {
    this.dock = undefined;
    // What was typed at a password prompt is not repeated.
    const isSecret = this.terminal?.prompt?.secret === true;
    this.lost = {
      why,
      unsent: text === '' ? undefined : isSecret ? 'What you typed was not sent.' : unsent(shown(text, 200)),
    };
  }
}
