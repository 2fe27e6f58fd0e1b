import type { Card, CardAct } from './ask-cards.ts';
import { programOf } from './ask-kinds.ts';
import { time } from './format.ts';

const acts: Readonly<Record<CardAct['kind'], string>> = {
  answer: 'Sent',
  trust: 'Trusted',
  deny: 'Denied',
  decline: 'Denied. The agent was told.',
  interrupt: 'Ctrl+C sent',
};

/** The one line of a card that is decided: what was done, and how far it came. */
export function receiptOf({ ask, state }: Card, now: number): readonly string[] {
  if (state.is === 'over') {
    return [
      state.how === 'elsewhere'
        ? `${state.words} ${Math.max(0, Math.round((now - state.at) / 1000))} s ago.`
        : state.words,
    ];
  }
  if (state.is === 'waiting') return [];
  const { act } = state;
  const word = act.word === undefined ? acts[act.kind] : `Answered “${act.word}”`;
  if (state.is === 'sending') return now - state.at > lateMs ? [lateWords] : ['Sending'];
  if (act.kind === 'decline') return [word];
  return [
    `${word} ${time(state.at)}`,
    'delivered',
    ...(state.effectiveAt === undefined || ask.terminal === undefined ? [] : [`${programOf(ask)} goes on`]),
  ];
}

const lateMs = 5000;
const lateWords = 'Decided, not delivered yet: the server does not answer. Still trying.';
