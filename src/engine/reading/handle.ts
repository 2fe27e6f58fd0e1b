import { FairleadError } from '../../contract/errors.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** Cursors and rests are valid in one terminal only, so they carry its id. */
export const bind = (terminal: Terminal, text: string): string => `${terminal.id}.${text}`;

/** Reverses `bind`; undefined if the text is no handle. */
export function unbind(terminal: Terminal, handle: string): string | undefined {
  const dot = handle.indexOf('.');
  if (dot < 0) return undefined;
  const owner = handle.slice(0, dot);
  if (owner === terminal.id) return handle.slice(dot + 1);
  throw new FairleadError(
    'invalid_input',
    `That handle belongs to terminal ${owner.slice(0, 20)}, not to ${terminal.id}.`,
    {
      hint: 'Pass it with the terminal it came from.',
    },
  );
}
