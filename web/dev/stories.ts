import type { Card, CardState } from '../src/lib/ask-cards.ts';
import type { CallShown, ConversationShown, Peek, TerminalShown, WaitingItem } from '../src/lib/shapes.ts';
import type { Text } from './texts.ts';

/** A moment that never passes. */
export const now = Date.UTC(2026, 10, 18, 14, 5, 53);
const minute = 60_000;

const block = { id: 4, startedAt: now - 252_000 };
const over = { ...block, endedAt: now - 3 * minute };
const agent = { by: 'Claude Code', kind: 'agent', isTaken: false, since: now - 2000 } as const;

type Change = Partial<TerminalShown>;
/** By id: the states of a tile, then what a terminal page can show. */
const changes: Readonly<Record<string, (text: Text) => Change>> = {
  needs_you: () => ({ shown: 'needs_you', state: 'needs_person' }),
  failed: () => ({ shown: 'failed', block: { ...over, exitCode: 1 } }),
  killed: () => ({ shown: 'failed', exitCode: 137, endedAt: now - minute, keptUntil: now + 9 * minute }),
  working: (text) => ({ shown: 'working', state: 'running', block, keyboard: { ...agent, by: text(agent.by) } }),
  starting: () => ({ shown: 'working', state: 'starting' }),
  paused: (text) => ({ shown: 'paused', state: 'running', block, paused: { by: text('Rosa'), at: now - minute } }),
  done: () => ({ shown: 'done', block: { ...over, exitCode: 0 }, recordingId: 'finished' }),
  idle: () => ({ shown: 'idle', block: { ...over, exitCode: 0 } }),
  yours: () => ({ shown: 'idle', keyboard: { by: 'person', kind: 'person', isTaken: true, since: now } }),
  lost: () => ({ shown: 'lost', state: 'lost' }),
  ended: () => ({ shown: 'done', state: 'exited', exitCode: 0, endedAt: now - minute, keptUntil: now + 9 * minute }),
  'full-screen': () => ({ shown: 'working', state: 'running', alternate: true, block }),
  'no-picture': () => ({ shown: 'idle' }),
  'taken-over': (text) => ({ keyboard: { by: text('Rosa'), kind: 'person', isTaken: true, since: now } }),
  watched: (text) => ({ state: 'running', block, keyboard: { ...agent, by: text(agent.by) }, sizedBy: text(agent.by) }),
};

const extra = ['mine', 'slow', 'unsent', 'refused', 'skipped', 'fault', 'waits'] as const;
export const tileIds = Object.keys(changes).slice(0, 13);
export const pageIds = [...extra, 'idle', 'paused', 'ended', 'taken-over', 'watched'];

export const terminals = (text: Text): TerminalShown[] =>
  [...Object.keys(changes), ...extra].map((id, session) => ({
    terminal: id,
    session,
    name: text(id.replace('_', ' ')),
    target: session % 2 === 0 ? 'local' : `ssh:deploy@${text('db-1')}`,
    program: text('bash'),
    state: 'idle',
    shown: 'idle',
    since: now - 3 * minute,
    title: text('a title'),
    cwd: text('/srv/runbook'),
    alternate: false,
    cols: 120,
    rows: 34,
    conversation: 'paused',
    ...(id === 'waits' || id === 'mine' ? changes['watched']?.(text) : changes[id]?.(text)),
  }));

export const peek = (terminal: string, text: Text): Peek => ({
  terminal,
  mode: terminal === 'full-screen' ? 'grid' : 'tail',
  cols: 120,
  rows: ['$ npm test', text('checkout total').slice(0, 400), 'expected 42, got 41', '$ '].map((row) => [[row, 0]]),
  cursor: { x: 2, y: 3 },
});

const asked = { kind: 'password', needs: 'person', secret: true } as const;
const host = 'The authenticity of host';
const print = 'SHA256:n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg';
const yesNo: Pick<WaitingItem, 'fits' | 'kind' | 'secret'> = {
  fits: { answers: ['y', 'N'], enter: true, default: 'N' },
  kind: 'yes_no',
  secret: false,
};

export const tileAsk = (text: Text): WaitingItem => ({
  ...asked,
  terminal: 'needs_you',
  program: text('sudo'),
  prompt: text('[sudo] password for deploy:'),
});

/** What a card can be about, by name. */
const kinds = (text: Text): Readonly<Record<string, WaitingItem>> => {
  const call = { subject: `deploy@${text('db-1')}:22`, asker: text('Claude Code'), principal: 'local' };
  const expires = { since: new Date(now - 42_000).toISOString(), expiresAt: new Date(now + 78_000).toISOString() };
  const prompt = `${host} '${text('db-1')} (10.0.7.3)' can't be established.\nED25519 key fingerprint is ${print}.`;
  return {
    secret: tileAsk(text),
    'call-secret': { ...asked, ...call, ...expires, prompt: text("deploy@db-1's password:") },
    question: { ...yesNo, terminal: 'working', program: text('apt'), prompt: text('Continue? [y/N]') },
    'any-text': { kind: 'text', secret: false, terminal: 'idle', program: text('read'), prompt: text('Your name:') },
    'call-question': { kind: 'text', secret: false, ...call, ...expires, prompt: text('Which account?') },
    touch: { kind: 'touch', secret: false, terminal: 'idle', program: text('ssh'), prompt: text('Touch it.') },
    'new-key': { kind: 'fingerprint', secret: false, ...call, ...expires, prompt },
    'changed-key': {
      kind: 'fingerprint',
      secret: false,
      ...call,
      prompt: `${prompt}\nThe host key for db-1 has changed.`,
    },
  };
};

const act = { kind: 'answer' } as const;
/** What became of a card, by name. */
const states = (text: Text): Readonly<Record<string, CardState>> => ({
  deciding: { is: 'sending', act, at: now },
  'not-delivered': { is: 'sending', act, at: now - 6000 },
  delivered: { is: 'sent', act, at: now },
  'in-effect': { is: 'sent', act: { ...act, word: 'y' }, at: now, effectiveAt: now },
  trusted: { is: 'sent', act: { kind: 'trust' }, at: now },
  interrupted: { is: 'sent', act: { kind: 'interrupt' }, at: now },
  denied: { is: 'sent', act: { kind: 'decline' }, at: now },
  elsewhere: { is: 'over', how: 'elsewhere', words: 'You answered this in the terminal', at: now - 3000 },
  expired: { is: 'over', how: 'expired', words: 'Nobody answered in 5 minutes; nothing was sent.', at: now },
  gone: { is: 'over', how: 'gone', words: `${text('sudo').slice(0, 400)} no longer asks.`, at: now },
  unknown: {
    is: 'over',
    how: 'unknown',
    words: 'We do not know whether it arrived. Look at the terminal before you type it again.',
    at: now,
  },
});

interface CardStory {
  readonly name: string;
  readonly card: Card;
  readonly isOpen: boolean;
}

export function cards(text: Text): CardStory[] {
  const all = kinds(text);
  const born = { bornAt: now - 42_000, since: now - 42_000 };
  const story = (name: string, ask: WaitingItem, state: CardState = { is: 'waiting' }, isOpen = true): CardStory => ({
    name,
    card: { key: name, ask, state, ...born },
    isOpen,
  });
  const changed = story('changed', tileAsk(text));
  return [
    ...Object.entries(all).map(([name, ask]) => story(name, ask)),
    ...Object.entries(all).map(([name, ask]) => story(`${name}-closed`, ask, undefined, false)),
    { ...changed, card: { ...changed.card, note: 'The request changed. Look again.' } },
    ...Object.entries(states(text)).map(([name, state]) => story(name, tileAsk(text), state)),
  ];
}

const call: Omit<CallShown, 'phase' | 'id'> = {
  at: now - 2000,
  who: { kind: 'agent', name: 'Claude Code' },
  op: 'terminal.run',
  access: 'control',
  isCommand: true,
  preview: 'npm test',
  bytes: 1100,
  ms: 400,
  terminal: 'working',
};

/** The phases of a row of the timeline. */
export const calls = (text: Text): CallShown[] =>
  (
    [
      { phase: 'received' },
      { phase: 'pending' },
      { phase: 'held', until: now + 30 * minute },
      { phase: 'dropped', ended: text('after 30 min') },
      { phase: 'executed', exit: 0 },
      { phase: 'executed', exit: 1 },
      { phase: 'executed', access: 'observe', op: 'terminal.read', preview: '' },
      { phase: 'failed', code: 'not_found' },
      { phase: 'denied' },
      { phase: 'replayed', exit: 0 },
      { phase: 'unknown' },
      { phase: 'executed', who: { kind: 'person', name: 'Ana' }, op: 'person.take', preview: '' },
    ] satisfies (Partial<CallShown> & Pick<CallShown, 'phase'>)[]
  ).map((change, at) => {
    const one = { ...call, ...change, id: `call-${at}` };
    const preview = one.preview && text(one.preview);
    return { ...one, preview, who: { ...one.who, name: text(one.who.name) }, op: at === 4 ? text(one.op) : one.op };
  });

const held = (text: Text): ConversationShown['held'] => [
  {
    id: 'held',
    call: 'call-2',
    op: 'terminal.run',
    preview: text('npm test'),
    since: now - minute,
    until: now + 29 * minute,
    isRunning: false,
    would: { kind: 'runs', words: text('It runs.') },
  },
];

export const conversations = (text: Text): ConversationShown[] =>
  (
    [
      { id: 'connected', connected: true },
      { id: 'gone', connected: false },
      { id: 'seen', last: { at: now - minute, op: text('terminal.read') } },
      { id: 'paused', state: 'paused', pause: { by: text('Rosa'), at: now, all: false }, held: held(text) },
      { id: 'revoked', state: 'revoked', revoked: { by: 'person', at: now } },
      { id: 'denied', state: 'denied' },
      { id: 'expired', state: 'expired' },
      { id: 'pending', state: 'pending' },
      { id: 'new', state: 'new' },
    ] satisfies (Partial<ConversationShown> & { id: string })[]
  ).map((change) => ({
    agent: text('Claude Code'),
    origin: 'mcp',
    state: 'approved',
    since: now - 10 * minute,
    counts: { calls: 41, denied: 1, held: 3, failed: 2 },
    bytesRead: 18_400,
    held: [],
    ...change,
  }));
