import { isDeepStrictEqual } from 'node:util';
import type { Engine } from './engine.ts';
import type { Log } from './incident.ts';
import { instanceNames } from './instances/names.ts';
import { savedSession } from './saved-session.ts';
import type { Terminal } from './terminal.ts';
import type { SavedSession, Workspaces } from './workspaces.ts';

/** Written at most so often. */
const oftenMs = 2000;

export interface AutosaveOptions {
  readonly instance: string;
  readonly log: Log;
  /** Whether the session outlives an orderly end of the server. */
  readonly outlives: (terminal: Terminal) => boolean;
}

/** The workspace of what is open, and that of what a crash took; instances beside the first have their own. */
export function autosaveNames(instance: string): { readonly last: string; readonly lost: string } {
  const [first] = instanceNames();
  const suffix = instance === first ? '' : `-${instance}`;
  return { last: `_last${suffix}`, lost: `_lost${suffix}` };
}

/**
 * Keeps the open sessions in a workspace, as they change (R-RPC-112). Answers how many of those saved by the server before are
 * gone: they are in a workspace of their own now, because the other one is about to be written anew.
 */
export function autosave(engine: Engine, store: Workspaces, { instance, log, outlives }: AutosaveOptions): number {
  const { last, lost } = autosaveNames(instance);
  let saved: readonly SavedSession[] | undefined;
  let due: Disposable | undefined;
  let complained = false;
  const save = (terminals: readonly Terminal[]): void => {
    due?.[Symbol.dispose]();
    due = undefined;
    const sessions = terminals.map((terminal) => savedSession(terminal, engine.recordings));
    if (isDeepStrictEqual(sessions, saved)) return;
    saved = sessions;
    try {
      if (sessions.length === 0) store.forget(last);
      else store.save({ name: last, sessions, saved_at: new Date(engine.clock.now()).toISOString() });
    } catch (error) {
      // A full disk must not end the sessions, nor fill the log.
      if (!complained) log(`The open sessions cannot be saved: ${error instanceof Error ? error.message : 'unknown'}`);
      complained = true;
    }
  };
  const changed = (): void => {
    due ??= engine.clock.after(oftenMs, () => save(openIn(engine)));
  };
  const follow = (terminal: Terminal): void => {
    // A shell tells where it is with its prompt. The terminal takes its listeners with it.
    terminal.block.on(({ type }) => type === 'prompt' && changed());
    terminal.resized.on(changed);
    terminal.stateChanged.on((state) => (state === 'exited' || state === 'lost') && changed());
  };
  const gone = rescue(engine, store, { last, lost });
  for (const terminal of engine.terminals) follow(terminal);
  engine.events.on(({ kind, terminal }) => {
    if (kind === 'opened') follow(terminal);
    if (!engine.closing.aborted) changed();
  });
  engine.closing.addEventListener('abort', () => save(openIn(engine).filter(outlives)), { once: true });
  changed();
  return gone;
}

/** What belongs to one principal only is not written down for all. */
function openIn(engine: Engine): Terminal[] {
  return engine.terminals.filter(({ ended, owner }) => !ended && owner === undefined);
}

function rescue(engine: Engine, store: Workspaces, { last, lost }: ReturnType<typeof autosaveNames>): number {
  const before = store.find(last);
  const known = new Set(engine.terminals.map(({ number }) => number));
  const sessions = before?.sessions.filter(({ id }) => !known.has(id)) ?? [];
  if (before && sessions.length > 0) store.save({ ...before, name: lost, sessions });
  return sessions.length;
}
