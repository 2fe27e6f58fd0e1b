import { untrack } from 'svelte';
import {
  aged,
  afterFailure,
  type Card,
  type CardAct,
  foldMs,
  inertMs,
  isWaiting,
  keyOfAsk,
  nextCards,
} from './ask-cards.ts';
import { feed } from './feed.svelte.ts';
import { CallFailed, type Failure } from './live.ts';
import type { WaitingItem } from './shapes.ts';

const refused: Failure = { code: 'internal', message: 'It could not be sent.' };

/** The cards of everything that needs a person, and what the person does with them. */
class Asks {
  cards = $state.raw<readonly Card[]>([]);
  /** The card that is open in the list; the others are one line each. */
  openKey = $state<string>();
  /** When the cards last moved: they take nothing shortly after. */
  movedAt = $state(0);
  /** Until then the list says that it is empty. */
  emptyUntil = $state(0);
  /** Cards that the person put off: they stay closed until opened. */
  #later = new Set<string>();

  get waiting(): readonly Card[] {
    return this.cards.filter(isWaiting);
  }

  /** The one that is open: the chosen one, else the first that waits. */
  get open(): Card | undefined {
    return (
      this.cards.find(({ key }) => key === this.openKey) ??
      this.cards.find((card) => isWaiting(card) && !this.#later.has(card.key))
    );
  }

  cardOf(ask: WaitingItem): Card | undefined {
    return this.cards.find(({ key }) => key === keyOfAsk(ask));
  }

  of(terminal: string): Card | undefined {
    return this.cards.find(({ ask }) => ask.terminal === terminal);
  }

  /** A key or a click now may have been meant for what stood there before. */
  isInert({ bornAt }: Card): boolean {
    return Date.now() < Math.max(bornAt, this.movedAt) + inertMs;
  }

  /** Follows the feed until the answer is called. */
  follow(): () => void {
    const stopEffect = $effect.root(() => {
      $effect(() => {
        const { waiting, waitingAskedAt, isLoaded } = feed;
        if (isLoaded) untrack(() => this.#take(waiting, waitingAskedAt));
      });
      $effect(() => {
        const { now } = feed;
        untrack(() => this.#age(now));
      });
    });
    const moved = (): void => this.#moved();
    addEventListener('resize', moved);
    return () => {
      stopEffect();
      removeEventListener('resize', moved);
    };
  }

  show(key: string): void {
    if (this.open?.key === key) return;
    this.#later.delete(key);
    this.openKey = key;
    this.#moved();
  }

  /** To the next or the one before. */
  step(by: 1 | -1): string | undefined {
    const at = this.cards.findIndex(({ key }) => key === this.open?.key);
    const next = this.cards[Math.max(0, Math.min(this.cards.length - 1, at + by))];
    if (next) this.show(next.key);
    return next?.key;
  }

  /** Not now: the card stays in the list, closed. */
  putOff(card: Card): void {
    this.#later.add(card.key);
    this.openKey = undefined;
    this.#moved();
  }

  answer(card: Card, text: string, submit: boolean, act: CardAct): Promise<void> {
    const { prompt, secret } = card.ask;
    return this.#send(card, act, 'person.answer', { item: card.key, prompt, text, secret, submit });
  }

  decline(card: Card): Promise<void> {
    return this.#send(card, { kind: 'decline' }, 'person.decline', { item: card.key });
  }

  interrupt(card: Card): Promise<void> {
    return this.#send(card, { kind: 'interrupt' }, 'person.type', { session: card.key, text: '\x03' });
  }

  /** Never sent twice: a card that is being decided takes no second decision. */
  async #send(card: Card, act: CardAct, op: string, input: object): Promise<void> {
    const current = this.cards.find(({ key }) => key === card.key);
    if (current?.state.is !== 'waiting' || this.isInert(current)) return;
    this.openKey = card.key;
    this.#change(card.key, ({ note: _note, ...one }) => ({ ...one, state: { is: 'sending', act, at: Date.now() } }));
    try {
      if (!feed.live) throw new CallFailed(refused);
      await feed.live.call(op, input);
      this.#change(card.key, (one) => ({ ...one, state: { is: 'sent', act, at: Date.now() } }));
      feed.askWaiting();
    } catch (error) {
      const failure = error instanceof CallFailed ? error.failure : refused;
      this.#change(card.key, (one) => afterFailure(one, failure, Date.now()));
    }
  }

  #take(waiting: readonly WaitingItem[], askedAt: number): void {
    const { terminals, settled } = feed;
    this.cards = nextCards(this.cards, waiting, { now: Date.now(), askedAt, terminals, settled });
  }

  #age(now: number): void {
    const isSeen = document.visibilityState === 'visible';
    const next = this.cards.flatMap((card) => aged(seenBy(card, isSeen, now), now) ?? []);
    if (next.length === this.cards.length && next.every((card, at) => card === this.cards[at])) return;
    const isFolded = next.length < this.cards.length;
    this.cards = next;
    if (!isFolded) return;
    if (next.length === 0) this.emptyUntil = Date.now() + foldMs;
    // The next card gets the focus, but no key or click that was meant for the last one.
    if (!next.some(({ key }) => key === this.openKey)) this.openKey = undefined;
    this.#moved();
  }

  #change(key: string, change: (card: Card) => Card): void {
    this.cards = this.cards.map((card) => (card.key === key ? change(card) : card));
  }

  #moved(): void {
    this.movedAt = Date.now();
  }
}

function seenBy(card: Card, isSeen: boolean, now: number): Card {
  const { state } = card;
  if (!isSeen || state.is !== 'over' || state.seenAt !== undefined) return card;
  return { ...card, state: { ...state, seenAt: now } };
}

export const asks = new Asks();
