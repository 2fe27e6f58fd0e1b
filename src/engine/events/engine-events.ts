import { Emitter } from '../../lib/emitter.ts';
import type { ConversationStatus } from '../agents/shapes.ts';
import type { QuestionChange } from '../person/questions/question.ts';
import type { Theme } from '../picture/themes.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { Changes } from './changes.ts';
import type { TerminalStatus } from './status.ts';

export type TerminalEventKind =
  | 'opened'
  | 'block'
  | 'keyboard'
  | 'state'
  | 'title'
  | 'prompt'
  | 'resized'
  | 'recording'
  | 'bell'
  | 'closed';

/** Something is new in an engine. The object it comes with has the new facts: an event that is heard twice or late does no harm. */
export type EngineEvent =
  | { readonly kind: TerminalEventKind; readonly terminal: Terminal }
  /** A question of the engine itself was asked, or is settled. */
  | ({ readonly kind: 'question' } & QuestionChange)
  /** A client called, left, or may go on or not. */
  | { readonly kind: 'conversation'; readonly conversation: ConversationStatus; readonly owner: string }
  /** Everything is paused, or no longer. */
  | { readonly kind: 'pause' }
  /** Other colours: viewers paint again. */
  | { readonly kind: 'theme'; readonly theme: Theme }
  /** A caller wants people to look at a session, or at the instance. A listener that shows it to a person calls `heard`. */
  | { readonly kind: 'focus'; readonly session: number | undefined; readonly heard: () => void };

/** A listener, with the place of the event among all of them. */
type Listener = (event: EngineEvent, cursor: string) => void;

/** The one emitter of an engine. */
export class EngineEvents {
  /** For readers that return. */
  readonly changes: Changes;
  readonly #emitter = new Emitter<{ readonly event: EngineEvent; readonly cursor: string }>();
  readonly #terminals = new Map<Terminal, Disposable[]>();
  /** Listeners to titles. Without one a title costs nothing; with one the foreground program is looked at. */
  #watchers = 0;
  readonly #titles = new Map<Terminal, Disposable>();
  /** Titles when the last watcher left. */
  #titlesBefore = new Map<Terminal, string>();

  constructor(statusOf: (terminal: Terminal) => TerminalStatus) {
    this.changes = new Changes(statusOf);
  }

  /** Every event but titles. */
  on(listener: Listener): Disposable {
    return this.#emitter.on(({ event, cursor }) => listener(event, cursor));
  }

  /** Titles, too. */
  watch(listener: Listener): Disposable {
    this.#watchers += 1;
    if (this.#watchers === 1) this.#watchTitles();
    const listening = this.on(listener);
    let held = true;
    return {
      [Symbol.dispose]: () => {
        if (!held) return;
        held = false;
        listening[Symbol.dispose]();
        this.#watchers -= 1;
        if (this.#watchers > 0) return;
        for (const title of this.#titles.values()) title[Symbol.dispose]();
        this.#titlesBefore = new Map([...this.#titles.keys()].map((one) => [one, one.state.title.current]));
        this.#titles.clear();
      },
    };
  }

  emit(event: EngineEvent): void {
    this.changes.add(event);
    this.#emitter.emit({ event, cursor: this.changes.cursor });
  }

  opened(terminal: Terminal): void {
    const tell = (kind: TerminalEventKind) => (): void => this.emit({ kind, terminal });
    this.#terminals.set(terminal, [
      terminal.state.changed.on(tell('state')),
      terminal.input.lease.changed.on(tell('keyboard')),
      // A quick command begins and ends between two looks at the state.
      terminal.blocks.events.on(({ type }) => type === 'ended' && this.emit({ kind: 'block', terminal })),
      terminal.person.prompts.changed.on(tell('prompt')),
      terminal.screen.resized.on(tell('resized')),
      terminal.screen.events.on(({ type }) => type === 'bell' && this.emit({ kind: 'bell', terminal })),
    ]);
    if (this.#watchers > 0) this.#watchTitle(terminal);
    this.emit({ kind: 'opened', terminal });
  }

  closed(terminal: Terminal): void {
    for (const listening of this.#terminals.get(terminal) ?? []) listening[Symbol.dispose]();
    this.#titles.get(terminal)?.[Symbol.dispose]();
    this.#titles.delete(terminal);
    this.#titlesBefore.delete(terminal);
    this.#terminals.delete(terminal);
    this.emit({ kind: 'closed', terminal });
  }

  /** A watcher that returns hears of titles that changed while no watcher was there. */
  #watchTitles(): void {
    for (const terminal of this.#terminals.keys()) {
      this.#watchTitle(terminal);
      // One that opened since has told all of itself.
      const before = this.#titlesBefore.get(terminal) ?? terminal.state.title.current;
      if (before !== terminal.state.title.current) this.emit({ kind: 'title', terminal });
    }
    this.#titlesBefore.clear();
  }

  #watchTitle(terminal: Terminal): void {
    const listening = terminal.state.title.changed.on(() => this.emit({ kind: 'title', terminal }));
    this.#titles.set(terminal, listening);
  }
}
