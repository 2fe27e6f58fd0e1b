import { z } from 'zod';
import { FairleadError } from '../../contract/errors.ts';
import type { Caller } from '../../engine/call/call.ts';
import { maySee } from '../../engine/call/principal.ts';
import type { Engine } from '../../engine/engine.ts';
import { namedSession } from '../../engine/sessions/lookup.ts';
import type { Terminal } from '../../engine/terminal/terminal.ts';

export const Session = z
  .union([z.string().max(256), z.number().int().min(0)])
  .default(0)
  .describe('Number, id or name');

export const StateShape = z.enum(['starting', 'idle', 'running', 'needs_input', 'needs_person', 'exited', 'lost']);

/** The screen of a terminal, for a fresh terminal of the same size. */
export const ScreenShape = {
  screen: z.string().describe('Base64'),
  cols: z.number().int(),
  rows: z.number().int(),
  top: z.number().int().describe('Absolute number of the first row of the screen'),
  epoch: z.number().int().describe('Row numbers are comparable within one'),
  event: z.number().describe('Number of the newest event: goes into person.follow'),
};

/** All of one moment: call it after `sync`. The output goes on at the end of the log. */
export function screenOf({ screen, usage }: Terminal) {
  return {
    screen: Buffer.concat([Buffer.from(screen.snapshot()), screen.pending]).toString('base64'),
    ...screen.size,
    top: screen.viewportTop,
    epoch: screen.epoch,
    event: usage.history.last,
  };
}

/** The terminals that a caller may know of, also those that are no sessions. */
export const terminalsOf = (engine: Engine, caller: Caller): Terminal[] =>
  engine.terminals.filter((terminal) => maySee(terminal.identity, caller));

/** The terminal that a person means. 0 is the default session, whatever its own number is. */
export function terminalCalled(session: string | number, engine: Engine, caller: Caller): Terminal {
  const all = terminalsOf(engine, caller).map((terminal) => {
    const { id, identity, ended } = terminal;
    const { number, name } = identity;
    return { number, id, name, isLive: ended === undefined, terminal };
  });
  const isThere = all.some(({ number }) => String(number) === String(session));
  const byDefault = isThere || String(session) !== '0' ? undefined : engine.sessions.numbered(0, caller);
  const terminal = byDefault ?? namedSession(String(session), all).terminal;
  caller.uses?.(terminal);
  return terminal;
}

/** The same for an entry of the audit trail that must not wait for it to be found. */
export const aboutSession = ({ session }: { readonly session: string | number }): { readonly terminal: string } => ({
  terminal: String(session),
});

export function terminalWithId(id: string, engine: Engine, caller: Caller): Terminal {
  const found = terminalsOf(engine, caller).find((terminal) => terminal.id === id);
  if (found) caller.uses?.(found);
  if (found) return found;
  throw new FairleadError('terminal_not_found', `There is no terminal ${id}.`);
}
