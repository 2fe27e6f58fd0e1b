import { time } from '../format.ts';

/** What the status line needs to know of the keyboard. */
export interface KeyboardFacts {
  readonly isMine: boolean;
  /** Who has it, and how. */
  readonly holder: { readonly by: string; readonly kind: 'agent' | 'person'; readonly isTaken: boolean } | undefined;
  /** Keys that the server has not taken for a second. */
  readonly onTheWay: number;
  readonly isPaused: boolean;
  readonly mayType: boolean;
  readonly isLinked: boolean;
}

/** The words about the keyboard, by the table of the design; the part before the comma stands out. */
export function keyboardWords({ isMine, holder, onTheWay, isPaused, mayType, isLinked }: KeyboardFacts): string {
  if (!mayType) return 'Watching only';
  if (!isLinked) return 'Keys are not sent now';
  if (onTheWay > 0) return `Slow link: ${onTheWay} ${onTheWay === 1 ? 'key' : 'keys'} on the way`;
  if (isMine) return 'You have the keyboard';
  if (holder?.isTaken === true) return `${holder.by} has the keyboard`;
  if (holder?.kind === 'agent') return 'Watching, your keys are not sent';
  return isPaused ? 'Paused. People can still type' : 'Type to use it';
}

export interface LinkFacts {
  readonly state: 'connecting' | 'live' | 'offline';
  /** The round trip, or how long an answer has been waited for. */
  readonly lagMs: number | undefined;
}

const lateMs = 1500;
export const isLate = ({ state, lagMs = 0 }: LinkFacts): boolean => state === 'live' && lagMs > lateMs;

/** `Live 38 ms`, `Late 2.1 s`; the word, then the number. */
export function linkWords(link: LinkFacts): readonly [word: string, number: string] {
  if (link.state !== 'live') return [link.state === 'connecting' ? 'Connecting' : 'Offline', ''];
  if (isLate(link)) return ['Late', `${((link.lagMs ?? 0) / 1000).toFixed(1)} s`];
  return ['Live', link.lagMs === undefined ? '' : `${Math.round(link.lagMs)} ms`];
}

/** `14:32` */
export const clock = (at: number): string => time(at).slice(0, 5);

interface EndFacts {
  readonly exitCode?: number | null | undefined;
  readonly endedAt?: number | undefined;
  readonly keptUntil?: number | undefined;
}

/** `Ended with exit 0 at 14:32. Kept until 14:42.` */
export function endWords({ exitCode, endedAt, keptUntil }: EndFacts): string {
  const how = typeof exitCode === 'number' ? ` with exit ${exitCode}` : '';
  const when = endedAt === undefined ? '' : ` at ${clock(endedAt)}`;
  return `Ended${how}${when}.${keptUntil === undefined ? '' : ` Kept until ${clock(keptUntil)}.`}`;
}

/** `41 s`, `2 min 5 s` */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** What was typed and not sent, short enough for a line; secrets are not repeated by the caller. */
export const unsent = (text: string): string => `“${text.length > 60 ? `${text.slice(0, 60)}…` : text}” was not sent.`;
