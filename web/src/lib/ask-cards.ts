import { programOf } from './ask-kinds.ts';
import type { Failure } from './live.ts';
import type { TerminalShown, WaitingItem } from './shapes.ts';
import { shown } from './visible.ts';

/** What a person did with a card. */
export interface CardAct {
  readonly kind: 'answer' | 'trust' | 'deny' | 'decline' | 'interrupt';
  /** The answer that was pressed, where it is no secret. */
  readonly word?: string;
}

export type CardState =
  | { readonly is: 'waiting' }
  | { readonly is: 'sending'; readonly act: CardAct; readonly at: number }
  | { readonly is: 'sent'; readonly act: CardAct; readonly at: number; readonly effectiveAt?: number }
  /** `seenAt`: since when a person can have seen it. */
  | {
      readonly is: 'over';
      readonly how: 'elsewhere' | 'expired' | 'gone' | 'unknown';
      readonly words: string;
      readonly at: number;
      readonly seenAt?: number;
    };

/** One thing that needs a person, from its first moment to its receipt. */
export interface Card {
  readonly key: string;
  readonly ask: WaitingItem;
  readonly state: CardState;
  /** When the page first had it, in this form. */
  readonly bornAt: number;
  /** Since when it waits. */
  readonly since: number;
  /** Words of the page about it while it waits: it changed, or the last try failed. */
  readonly note?: string;
}

/** What the page knows besides the list. */
export interface CardFacts {
  readonly now: number;
  /** When the list was asked for: it tells nothing of what came after. */
  readonly askedAt: number;
  readonly terminals: ReadonlyMap<string, TerminalShown>;
  /** How questions ended that are no longer open. */
  readonly settled: ReadonlyMap<string, 'answered' | 'declined' | 'expired'>;
}

/** A card takes no key or click in its first moment, nor after everything has moved. */
export const inertMs = 400;
/** A receipt stays so long. */
export const foldMs = 4000;

export const keyOfAsk = ({ question, terminal }: WaitingItem): string => question ?? terminal ?? '';
export const isWaiting = ({ state }: Card): boolean => state.is === 'waiting' || state.is === 'sending';

/** The cards after a new list: nothing changes its place, and what is new comes last. */
export function nextCards(before: readonly Card[], waiting: readonly WaitingItem[], facts: CardFacts): Card[] {
  const items = new Map(waiting.map((item) => [keyOfAsk(item), item]));
  const old = before.map((card) => followed(card, items.get(card.key), facts));
  const known = new Set(before.map(({ key }) => key));
  const added = waiting.filter((item) => !known.has(keyOfAsk(item)));
  // Only a list that a person has not seen yet may be sorted: by what ends first.
  const sorted = before.length > 0 ? added : added.toSorted((a, b) => expiry(a) - expiry(b));
  return [...old, ...sorted.map((item) => newCard(item, facts))];
}

const expiry = ({ expiresAt }: WaitingItem): number =>
  expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiresAt);

function newCard(ask: WaitingItem, { now, terminals }: CardFacts, note?: string): Card {
  const began = ask.since ?? terminals.get(ask.terminal ?? '')?.since;
  const since = Math.min(now, typeof began === 'string' ? Date.parse(began) : (began ?? now));
  const card: Card = { key: keyOfAsk(ask), ask, state: { is: 'waiting' }, bornAt: now, since };
  return note === undefined ? card : { ...card, note };
}

function followed(card: Card, item: WaitingItem | undefined, facts: CardFacts): Card {
  const { state, ask } = card;
  if (state.is === 'sending') return card;
  if (state.is === 'waiting') {
    if (!item) return { ...card, state: endOf(card, facts) };
    const isSame = item.prompt === ask.prompt && item.kind === ask.kind;
    return isSame ? { ...card, ask: item } : newCard(item, facts, 'The request changed. Look again.');
  }
  if (item && facts.askedAt > state.at) return newCard(item, facts);
  if (state.is === 'sent' && !item && state.effectiveAt === undefined)
    return { ...card, state: { ...state, effectiveAt: facts.now } };
  return card;
}

/** Why a card that waited is no longer listed, although this page did nothing. */
function endOf({ ask, since }: Card, { now, terminals, settled }: CardFacts): CardState {
  const over = (how: 'elsewhere' | 'expired' | 'gone', words: string): CardState => ({
    is: 'over',
    how,
    words,
    at: now,
  });
  if (ask.question !== undefined) {
    const how = settled.get(ask.question);
    const isExpired = how === 'expired' || (how === undefined && expiry(ask) <= now);
    if (isExpired) return over('expired', `Nobody answered in ${minutes(expiry(ask) - since)}; nothing was sent.`);
    return over('elsewhere', how === 'declined' ? 'You declined this elsewhere' : 'You answered this elsewhere');
  }
  const terminal = terminals.get(ask.terminal ?? '');
  if (!terminal || terminal.exitCode !== undefined || terminal.state === 'lost')
    return over('gone', 'The terminal has ended; nothing was typed.');
  const { keyboard } = terminal;
  if (keyboard && keyboard.since >= since)
    return over(
      'elsewhere',
      `${keyboard.kind === 'person' ? 'You' : shown(keyboard.by, 32)} answered this in the terminal`,
    );
  return over('gone', `${programOf(ask)} no longer asks.`);
}

function minutes(ms: number): string {
  const count = Math.max(1, Math.round(ms / 60_000));
  return `${count} ${count === 1 ? 'minute' : 'minutes'}`;
}

/** The card after its act was refused or lost. Nothing is sent again by itself. */
export function afterFailure(card: Card, { code, message }: Failure, now: number): Card {
  const { ask } = card;
  const waits = (note: string): Card => ({ ...card, state: { is: 'waiting' }, note, bornAt: now });
  const over = (how: 'gone' | 'unknown', words: string): Card => ({
    ...card,
    state: { is: 'over', how, words, at: now },
  });
  if (code === 'offline') return waits('You are offline. Nothing was sent.');
  if (code === 'unknown') {
    return over(
      'unknown',
      ask.secret
        ? 'We do not know whether it arrived. Look at the terminal before you type it again.'
        : 'We do not know whether it arrived. Look at the terminal.',
    );
  }
  if (code === 'conflict' && ask.question === undefined)
    return waits(`${programOf(ask)} no longer asks for this. Nothing was typed.`);
  if (code === 'not_found' || code === 'terminal_not_found' || code === 'terminal_exited') {
    return over(
      'gone',
      ask.question === undefined ? 'The terminal has ended; nothing was typed.' : 'This question is no longer open.',
    );
  }
  return waits(message);
}

/** Undefined: the card folds away. */
export function aged(card: Card, now: number): Card | undefined {
  const { state } = card;
  if (state.is === 'sent') {
    const end = state.effectiveAt ?? (hasEffect(card) ? Number.POSITIVE_INFINITY : state.at);
    // What is typed may never show an effect, such as a key that a program ignores.
    return now >= Math.min(end, state.at + 2 * foldMs) + foldMs ? undefined : card;
  }
  if (state.is !== 'over') return card;
  const staysUnseen = state.how === 'expired' || state.how === 'unknown';
  const from = staysUnseen ? (state.seenAt ?? Number.POSITIVE_INFINITY) : state.at;
  return now >= from + foldMs ? undefined : card;
}

/** A program goes on after its answer; a question has no more to show. */
const hasEffect = ({ ask }: Card): boolean => ask.terminal !== undefined;
