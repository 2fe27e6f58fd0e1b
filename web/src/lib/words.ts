import { ago, running } from './format.ts';
import type { TerminalShown } from './shapes.ts';
import { shown } from './visible.ts';

/** What a terminal is called: its name, else its title, else its program. */
export const nameOf = ({ name, title, program, session }: TerminalShown): string =>
  shown(name ?? (title || program.split('/').at(-1) || `terminal ${session}`), 60);

/** The word for a state, with its time. */
export function stateWord(terminal: TerminalShown, now: number): string {
  const { shown: state, since, block, exitCode } = terminal;
  if (state === 'needs_you') return 'Needs you';
  if (state === 'lost') return `Lost · ${ago(now - since)}`;
  if (state === 'paused') return `Paused · ${ago(now - (terminal.paused?.at ?? since))}`;
  if (state === 'working') {
    return terminal.state === 'starting' ? 'Starting' : `Working · ${running(now - (block?.startedAt ?? since))}`;
  }
  if (state === 'idle') return `Idle · ${ago(now - since)}`;
  const code = exitCode ?? block?.exitCode;
  const word = state === 'done' ? 'Done' : 'Failed';
  return code === undefined || code === null ? word : `${word} · exit ${code}`;
}

/** Where it runs, if not simply here. */
export const placeOf = ({ target }: TerminalShown): string => (target === 'local' ? 'this machine' : shown(target, 80));

/** What a terminal that needs a person wants. */
export function wants({ prompt }: TerminalShown): string {
  if (!prompt) return 'Needs you';
  if (prompt.secret) return 'Wants a secret';
  return prompt.kind === 'any_key' || prompt.kind === 'pager' ? 'Press a key' : 'Answer a question';
}

const order: Readonly<Record<TerminalShown['shown'], number>> = {
  needs_you: 0,
  failed: 1,
  paused: 2,
  working: 3,
  done: 4,
  idle: 5,
  lost: 6,
};

/** Who needs a person first; then by the last change. */
export const byUrgency = (a: TerminalShown, b: TerminalShown): number =>
  order[a.shown] - order[b.shown] || b.since - a.since || a.session - b.session;

/** Of a terminal that may be gone: then only its id is known. */
export function nameOfTerminal(id: string, known: ReadonlyMap<string, TerminalShown>): string {
  const found = known.get(id) ?? [...known.values()].find(({ session, name }) => String(session) === id || name === id);
  return found ? nameOf(found) : shown(id, 40);
}

/** Two letters for a person. */
export function initialsOf(name: string): string {
  const words = shown(name, 40)
    .split(/[\s._@-]+/)
    .filter(Boolean);
  const letters = words.length > 1 ? `${words[0]?.[0]}${words[1]?.[0]}` : (words[0] ?? '?').slice(0, 2);
  return letters.toUpperCase();
}
