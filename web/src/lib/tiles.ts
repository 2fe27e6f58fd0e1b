import { ago, running } from './format.ts';
import { placeOfTarget } from './place.ts';
import type { TerminalShown } from './shapes.ts';
import { shown } from './visible.ts';

/** What a tile shows; the server says so, and a browser that looked turns done and failed to idle. */
export type TileState = TerminalShown['shown'];

/** After so long what is done or failed is no news. */
const newsMs = 30 * 60_000;

/** `lookedAt`: when this browser last looked at the terminal for a while. */
export function tileState(terminal: TerminalShown, now: number, lookedAt: number | undefined): TileState {
  const state = terminal.shown;
  const isNews = state === 'done' || state === 'failed';
  // A program that has ended keeps its word until it goes.
  if (!isNews || terminal.exitCode !== undefined) return state;
  const endedAt = terminal.block?.endedAt ?? terminal.since;
  return now - endedAt > newsMs || (lookedAt !== undefined && lookedAt >= endedAt) ? 'idle' : state;
}

const order: Readonly<Record<TileState, number>> = {
  needs_you: 0,
  failed: 1,
  working: 2,
  paused: 3,
  done: 4,
  idle: 5,
  lost: 6,
};

/** A terminal as the grid has it. */
export interface TileItem {
  readonly terminal: TerminalShown;
  readonly state: TileState;
  readonly machine: string;
}

/** Who needs a person first; then by the last change. */
export const tilesByUrgency = (a: TileItem, b: TileItem): number =>
  order[a.state] - order[b.state] || b.terminal.since - a.terminal.since || a.terminal.session - b.terminal.session;

export const shows = ['all', 'working', 'needs_you', 'failed', 'mine'] as const;
export type Show = (typeof shows)[number];
export const showNames: Readonly<Record<Show, string>> = {
  all: 'All',
  working: 'Working',
  needs_you: 'Needs you',
  failed: 'Failed',
  mine: 'Mine',
};

/** What the address says of the grid. */
export interface TileFilter {
  readonly show: Show;
  readonly machine: string;
  readonly agent: string;
  readonly text: string;
  readonly isList: boolean;
}

export function filterOf(search: string): TileFilter {
  const query = new URLSearchParams(search);
  return {
    show: shows.find((one) => one === query.get('show')) ?? 'all',
    machine: query.get('machine') ?? '',
    agent: query.get('agent') ?? '',
    text: (query.get('find') ?? '').slice(0, 200),
    isList: query.get('as') === 'list',
  };
}

export function searchOf({ show, machine, agent, text, isList }: TileFilter): string {
  const query = new URLSearchParams({
    ...(show !== 'all' && { show }),
    ...(machine !== '' && { machine }),
    ...(agent !== '' && { agent }),
    ...(text !== '' && { find: text }),
    ...(isList && { as: 'list' }),
  }).toString();
  return query === '' ? '' : `?${query}`;
}

const isShown = ({ terminal, state }: TileItem, show: Show): boolean =>
  show === 'all' || (show === 'mine' ? terminal.keyboard?.kind === 'person' : state === show);

/** The agent that types in it, or typed last. */
export const agentOf = ({ keyboard }: TerminalShown): string | undefined =>
  keyboard?.kind === 'agent' ? shown(keyboard.by, 32) : undefined;

export function matches(item: TileItem, { show, machine, agent, text }: TileFilter): boolean {
  const { terminal } = item;
  if (machine !== '' && item.machine !== machine) return false;
  if (agent !== '' && agentOf(terminal) !== agent) return false;
  const all = `${terminal.name ?? ''} ${terminal.title} ${terminal.program} ${terminal.cwd ?? ''} ${terminal.target}`;
  if (text !== '' && !all.toLowerCase().includes(text.toLowerCase())) return false;
  return isShown(item, show);
}

export const countOf = (items: readonly TileItem[], show: Show): number =>
  items.filter((item) => isShown(item, show)).length;

/** More than these are grouped by machine. */
export const mostUngrouped = 60;

export function groupsOf(items: readonly TileItem[]): { readonly machine: string; readonly items: TileItem[] }[] {
  const groups = new Map<string, TileItem[]>();
  for (const item of items) groups.set(item.machine, [...(groups.get(item.machine) ?? []), item]);
  return [...groups].map(([machine, own]) => ({ machine, items: own }));
}

export const machineOf = ({ target }: Pick<TerminalShown, 'target'>, here: string): string =>
  placeOfTarget(target, here).machine;

/** The word for a state, with its time. */
export function tileWord(terminal: TerminalShown, state: TileState, now: number): string {
  const { since, block, exitCode } = terminal;
  if (state === 'needs_you') return 'Needs you';
  if (state === 'lost') return `Lost · ${past(now - since)}`;
  if (state === 'paused') return `Paused · ${ago(now - (terminal.paused?.at ?? since))}`;
  if (state === 'working') {
    return terminal.state === 'starting' ? 'Starting' : `Working · ${running(now - (block?.startedAt ?? since))}`;
  }
  if (state === 'idle') return `Idle · ${ago(now - (block?.endedAt ?? since))}`;
  const code = exitCode ?? block?.exitCode;
  const word = state === 'done' ? 'Done' : 'Failed';
  if (code === undefined) return word;
  return `${word} · ${signalOf(code) ?? `exit ${code}`}`;
}

/** `3 min ago`, `now` */
function past(ms: number): string {
  const words = ago(ms);
  return words === 'now' ? words : `${words} ago`;
}

const signals: Readonly<Record<number, string>> = {
  129: 'SIGHUP',
  130: 'SIGINT',
  134: 'SIGABRT',
  137: 'SIGKILL',
  139: 'SIGSEGV',
  141: 'SIGPIPE',
  143: 'SIGTERM',
};
const signalOf = (code: number): string | undefined => signals[code];

/** The one fact at the right of a tile's foot. */
export function tileFact(terminal: TerminalShown, state: TileState, now: number): string {
  const { block, alternate, cols, rows } = terminal;
  const lasted =
    block?.startedAt !== undefined && block.endedAt !== undefined
      ? running(block.endedAt - block.startedAt)
      : undefined;
  if (state === 'failed' && block?.exitCode !== undefined && lasted !== undefined)
    return `exit ${block.exitCode} after ${lasted}`;
  if (state === 'done' && lasted !== undefined) return `${lasted}, ${past(now - (block?.endedAt ?? now))}`;
  return alternate ? 'full screen' : `${cols}×${rows}`;
}
