import type { Caller } from '../call/call.ts';
import { maySee } from '../call/principal.ts';
import { onAbort } from '../../system/on-abort.ts';
import type { ConversationStatus, PauseStatus } from '../agents/shapes.ts';
import type { Engine } from '../engine.ts';
import type { OpenQuestion, QuestionChange } from '../person/questions/question.ts';
import type { Theme } from '../picture/themes.ts';
import type { Change } from './changes.ts';
import type { EngineEvent, TerminalEventKind } from './engine-events.ts';
import { statusOf, type TerminalStatus } from './status.ts';

export type WatchItem =
  /** The whole state: first, and again for a reader that fell behind. */
  | {
      readonly kind: 'all';
      readonly terminals: TerminalStatus[];
      readonly questions: OpenQuestion[];
      readonly theme: WatchedTheme;
      readonly conversations: ConversationStatus[];
      readonly pause: PauseStatus | null;
    }
  | { readonly kind: 'conversation'; readonly conversation: ConversationStatus }
  | { readonly kind: 'pause'; readonly pause: PauseStatus | null }
  | { readonly kind: 'theme'; readonly theme: WatchedTheme }
  | { readonly kind: TerminalEventKind; readonly terminal: TerminalStatus }
  | ({ readonly kind: 'question' } & QuestionChange)
  /** A caller wants the person to look at a session, or at the instance. */
  | { readonly kind: 'focus'; readonly terminal?: TerminalStatus };

/** Colours as CSS reads them. */
type WatchedTheme = Omit<Theme, 'colors'> & { readonly colors: string[] };

const themeOf = ({ name, title, foreground, background, cursor, colors }: Theme): WatchedTheme => ({
  name,
  title,
  foreground,
  background,
  cursor,
  colors: [...colors],
});

/** Changes that wait for a reader. At the limit they are dropped, and the reader gets the whole state in their place. */
const mostPending = 256;

/** What a reader hears, and from where it goes on when it was away. */
export type WatchedItem = WatchItem & { readonly cursor: string };

/**
 * All that happens in an engine, as far as this caller may see it: first the whole state, then each change. A reader that returns with
 * the cursor of its newest item gets the objects that changed since; the whole state if that is no longer known.
 */
export async function* watchEngine(
  engine: Engine,
  caller: Pick<Caller, 'principal'>,
  signal: AbortSignal,
  since?: string,
): AsyncGenerator<WatchedItem, void, void> {
  const { changes } = engine.events;
  let pending: WatchedItem[] = [];
  let isBehind = true;
  let wake = (): void => {};
  using _events = engine.events.watch((event, cursor) => {
    // What happens before the whole state is taken is in it.
    const item = isBehind ? undefined : itemOf(event, engine, caller);
    if (!item) return;
    if (event.kind === 'focus') event.heard();
    if (pending.push({ ...item, cursor }) > mostPending) {
      pending = [];
      isBehind = true;
    }
    wake();
  });
  using _end = onAbort(signal, () => wake());
  const missed = since === undefined ? undefined : changes.since(since);
  if (missed) {
    isBehind = false;
    const { cursor } = changes;
    // Together they are one step: a reader that leaves in the middle asks again from where it was.
    const items = missed.map((change) => missedItem(change, engine, caller)).filter((item) => item !== undefined);
    pending = items.map((item, at) => ({ ...item, cursor: at === items.length - 1 ? cursor : (since ?? cursor) }));
  }
  while (!signal.aborted) {
    if (isBehind) {
      isBehind = false;
      yield { ...everything(engine, caller), cursor: changes.cursor };
      continue;
    }
    const next = pending.shift();
    if (next) yield next;
    else {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
}

/** A change that a reader was not there for: the state of its object now. */
function missedItem(change: Change, engine: Engine, caller: Pick<Caller, 'principal'>): WatchItem | undefined {
  if (change.kind !== 'gone')
    return itemOf('terminal' in change ? { ...change, kind: 'state' } : change, engine, caller);
  return maySee(change.identity, caller) ? { kind: 'closed', terminal: change.status } : undefined;
}

function everything(engine: Engine, caller: Pick<Caller, 'principal'>): WatchItem {
  const { questions } = engine;
  return {
    kind: 'all',
    terminals: engine.terminals.filter((one) => maySee(one.identity, caller)).map((one) => statusOf(one, engine)),
    questions: questions.list().filter(({ principal }) => principal === caller.principal),
    theme: themeOf(engine.theme),
    conversations: engine.agents.list(caller),
    pause: engine.agents.pauseStatus(caller) ?? null,
  };
}

function itemOf(event: EngineEvent, engine: Engine, caller: Pick<Caller, 'principal'>): WatchItem | undefined {
  if (event.kind === 'focus') return focusOf(event.session, engine, caller);
  if (event.kind === 'pause') return { kind: 'pause', pause: engine.agents.pauseStatus(caller) ?? null };
  if (event.kind === 'conversation') {
    const { kind, conversation, owner } = event;
    return owner === caller.principal ? { kind, conversation } : undefined;
  }
  if (event.kind === 'theme') return { kind: 'theme', theme: themeOf(event.theme) };
  if (event.kind === 'question') return event.question.principal === caller.principal ? event : undefined;
  const { kind, terminal } = event;
  return maySee(terminal.identity, caller) ? { kind, terminal: statusOf(terminal, engine) } : undefined;
}

function focusOf(
  session: number | undefined,
  engine: Engine,
  caller: Pick<Caller, 'principal'>,
): WatchItem | undefined {
  if (session === undefined) return { kind: 'focus' };
  const terminal = engine.terminals.find(({ identity }) => identity.number === session);
  return terminal && maySee(terminal.identity, caller)
    ? { kind: 'focus', terminal: statusOf(terminal, engine) }
    : undefined;
}
