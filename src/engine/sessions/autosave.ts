import { isDeepStrictEqual } from 'node:util';
import type { Engine } from '../engine.ts';
import type { Log } from '../../system/incident.ts';
import { instanceNames } from '../instances/names.ts';
import { savedSession } from './saved-session.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { SavedSession, Workspaces } from './workspaces.ts';

/** Written at most so often. */
const oftenMs = 2000;

interface AutosaveOptions {
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
 * Keeps the open sessions in a workspace, as they change. Answers how many of those saved by the server before are
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
    try {
      const sessions = terminals.map((terminal) => masked(savedSession(terminal, engine), engine.redact));
      if (isDeepStrictEqual(sessions, saved)) return;
      if (sessions.length === 0) store.forget(last);
      else store.replace({ name: last, sessions, saved_at: new Date(engine.clock.now()).toISOString() });
      saved = sessions;
      complained = false;
    } catch (error) {
      // A full disk must not end the sessions, nor fill the log. The next change tries again.
      if (!complained) log(`The open sessions cannot be saved: ${reasonOf(error)}`);
      complained = true;
    }
  };
  const changed = (): void => {
    // What was saved at the end stands: terminals that end with the server, or are left to the next, are no news.
    if (!engine.closing.aborted) due ??= engine.clock.after(oftenMs, () => save(openIn(engine)));
  };
  const follow = (terminal: Terminal): void => {
    // A shell tells where it is with its prompt. The terminal takes its listeners with it.
    terminal.blocks.events.on(({ type }) => type === 'prompt' && changed());
    terminal.screen.resized.on(changed);
    terminal.state.changed.on((state) => (state === 'exited' || state === 'lost') && changed());
  };
  let gone = 0;
  try {
    gone = rescue(engine, store, { last, lost });
  } catch (error) {
    // Rather a server without what was open before than none.
    log(`The sessions of the previous server cannot be saved: ${reasonOf(error)}`);
  }
  for (const terminal of engine.terminals) follow(terminal);
  engine.events.on((event) => {
    if (event.kind !== 'opened' && event.kind !== 'closed') return;
    if (event.kind === 'opened') follow(event.terminal);
    changed();
  });
  engine.closing.addEventListener('abort', () => save(openIn(engine).filter(outlives)), { once: true });
  changed();
  return gone;
}

/** What belongs to one principal only is not written down for all. */
function openIn(engine: Engine): Terminal[] {
  return engine.terminals.filter(({ ended, identity: { owner } }) => !ended && owner === undefined);
}

/** Saved without being asked, so without secrets. A command with a secret would not run without it. */
function masked({ command, given_title, ...session }: SavedSession, redact: Engine['redact']): SavedSession {
  return {
    ...session,
    title: redact(session.title),
    ...(command !== undefined && redact(command) === command ? { command } : {}),
    ...(given_title === undefined ? {} : { given_title: redact(given_title) }),
  };
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : 'unknown');

function rescue(engine: Engine, store: Workspaces, { last, lost }: ReturnType<typeof autosaveNames>): number {
  const before = store.find(last);
  const known = new Set(engine.terminals.map(({ identity: { number } }) => number));
  const sessions = before?.sessions.filter(({ id }) => !known.has(id)) ?? [];
  if (before && sessions.length > 0) store.replace({ ...before, name: lost, sessions });
  return sessions.length;
}
