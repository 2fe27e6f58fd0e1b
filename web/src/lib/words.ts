import type { TerminalShown } from './shapes.ts';
import { tilesByUrgency, tileWord } from './tiles.ts';
import { shown } from './visible.ts';

/** What a terminal is called: its name, else its title, else its program. */
export const nameOf = ({ name, title, program, session }: TerminalShown): string =>
  shown(name ?? (title || program.split('/').at(-1) || `terminal ${session}`), 60);

/** The word for a state, with its time. */
export const stateWord = (terminal: TerminalShown, now: number): string => tileWord(terminal, terminal.shown, now);

/** Who needs a person first, as the server sees it. */
export const byUrgency = (a: TerminalShown, b: TerminalShown): number => {
  const item = (terminal: TerminalShown) => ({ terminal, state: terminal.shown, machine: '' });
  return tilesByUrgency(item(a), item(b));
};

/** Where it runs, if not simply here. */
export const placeOf = ({ target }: TerminalShown): string => (target === 'local' ? 'this machine' : shown(target, 80));

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
