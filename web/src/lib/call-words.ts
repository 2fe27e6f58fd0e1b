import { amount, clock } from './format.ts';
import type { CallShown } from './shapes.ts';
import { shown } from './visible.ts';

export type CallGlyph = 'dot' | 'bars' | 'dash' | 'tick' | 'again' | 'octagon' | 'slash' | 'triangle' | 'person';

/** The shape for where a call is. */
export function glyphOf({ who, phase, exit, access }: CallShown): CallGlyph {
  if (who.kind === 'person') return 'person';
  if (phase === 'executed')
    return exit === undefined || exit === 0 ? (access === 'observe' ? 'dot' : 'tick') : 'octagon';
  return shapes[phase];
}

const shapes: Readonly<Record<Exclude<CallShown['phase'], 'executed'>, CallGlyph>> = {
  received: 'dot',
  pending: 'bars',
  held: 'bars',
  dropped: 'dash',
  failed: 'octagon',
  denied: 'slash',
  replayed: 'again',
  unknown: 'triangle',
};

/** What stands at the right end of a row. */
export function resultOf(call: CallShown): string {
  const { phase, exit, ms, bytes, access, code, ended, until } = call;
  const took = duration(ms);
  if (phase === 'received') return '';
  if (phase === 'held') return until === undefined ? 'held' : `held, until ${clock(until)}`;
  if (phase === 'dropped') return ended === undefined ? 'dropped' : `dropped: ${shown(ended, 60)}`;
  if (phase === 'failed') return codeWords(code);
  if (phase === 'unknown') return 'nobody knows whether it ran';
  if (phase === 'pending' || phase === 'denied') return phase;
  const facts = exit === undefined ? (access === 'observe' ? [amount(bytes), took] : [took]) : [`exit ${exit}`, took];
  return [...(phase === 'replayed' ? ['replayed'] : []), ...facts].join(' · ');
}

const codeWords = (code: string | undefined): string => (code ?? 'failed').replaceAll('_', ' ');

/** `3 ms`, `0.4 s`, `1:04` */
export function duration(ms: number): string {
  if (ms < 100) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

/** What a person did, in words; the operation's own name where there are none. */
export const actOf = ({ op }: Pick<CallShown, 'op'>): string => acts[op] ?? op;

const acts: Readonly<Record<string, string>> = {
  'person.type': 'typed',
  'person.answer': 'answered',
  'person.decline': 'declined to answer',
  'person.take': 'took the keyboard',
  'person.give': 'handed the keyboard back',
  'person.resize': 'changed the size',
  'terminal.open': 'opened a terminal',
  'terminal.close': 'closed a terminal',
  'terminal.run': 'ran a command',
  'terminal.send': 'typed',
  'settings.open': 'made a login link',
  'dashboard.open': 'made a login link',
  'login.list': 'listed the browsers',
  'login.end': 'signed a browser out',
  'terminal.record': 'changed a recording',
  'person.rename': 'renamed a terminal',
  'workspace.save': 'saved a workspace',
  'workspace.restore': 'restored a workspace',
  'workspace.delete': 'removed a workspace',
  'agents.pause': 'paused',
  'agents.resume': 'resumed',
  'agents.drop': 'dropped held calls',
  'agents.stop': 'stopped commands',
  'agents.revoke': 'revoked',
  'agents.approve': 'approved again',
  'agents.end': 'ended all terminals',
};
